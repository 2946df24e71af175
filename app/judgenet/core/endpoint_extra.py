"""The further fields of endpoints, laid under those of a network that asks them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.extra_fields import extra_of_text, extra_text, merged_extra
from judgenet.core.network import (
    NetworkSpec,
    Settings,
    chair_settings,
    needs_roles,
    neuron_settings,
    role_settings,
    stand_ins,
)


def with_extra_of(settings: Settings, profiles: Mapping[str, EndpointProfile]) -> Settings:
    """Settings in force with the further fields and the length of the context of their endpoint under their own."""
    profile = profiles.get(settings.endpoint or "")
    if profile is None or not (profile.extra or profile.context_length):
        return settings
    context = {"options": {"num_ctx": profile.context_length}} if profile.context_length else {}
    joined = merged_extra(context, merged_extra(extra_of_text(profile.extra), extra_of_text(settings.extra)))
    return replace(settings, extra=extra_text(joined))


def asked_context(settings: Settings) -> int | None:
    """The length of the context in tokens that calls with these settings ask Ollama for, with those of their endpoint
    under their own; ``None`` where they leave it to the server."""
    options = extra_of_text(settings.extra).get("options")
    length = options.get("num_ctx") if isinstance(options, dict) else None
    return length if isinstance(length, int) and not isinstance(length, bool) and length > 0 else None


def with_endpoint_extra(spec: NetworkSpec, profiles: Mapping[str, EndpointProfile]) -> NetworkSpec:
    """The network with the further fields of its endpoints under its own, where calls are made: at neurons, roles and
    chair. They are part of a call's key, as the network's own are."""
    if not any(profile.extra or profile.context_length for profile in profiles.values()):
        return spec

    def filled(own: Settings, in_force: Settings) -> Settings:
        there = with_extra_of(in_force, profiles)
        if there is not in_force:
            own = replace(own, extra=there.extra)
        extras = [with_extra_of(settings, profiles).extra for settings in stand_ins(in_force)]
        others = tuple(
            replace(stand_in, extra=extra) for stand_in, extra in zip(in_force.stand_in or (), extras, strict=True)
        )
        return own if others == (in_force.stand_in or ()) else replace(own, stand_in=others)

    layers = tuple(
        replace(
            layer_spec,
            neurons=tuple(
                replace(neuron, settings=filled(neuron.settings, neuron_settings(spec, layer, place)))
                for place, neuron in enumerate(layer_spec.neurons)
            ),
        )
        for layer, layer_spec in enumerate(spec.layers)
    )
    chair = spec.chair and replace(spec.chair, settings=filled(spec.chair.settings, chair_settings(spec)))
    roles = spec.roles
    if needs_roles(spec):
        roles = replace(roles, settings=filled(roles.settings, role_settings(spec)))
    return replace(spec, layers=layers, chair=chair, roles=roles)
