"""Builds JudgeNet as a program that needs no Python: a folder, and on Debian and Ubuntu a package.

    python packaging/installer.py                   dist/judgenet (the folder) and dist/judgenet_VERSION_ARCH.deb
    python packaging/installer.py --no-model        without the embedded model, which users then download (93 MB less)
    python packaging/installer.py --check ROOT      also installs and tests the package in a bare Debian at ROOT, which
                                                    debootstrap creates where there is none (as root)

It needs the extra ``installer`` (pip install -e '.[installer]') and, for the package, dpkg-deb and binutils. On
Windows and macOS it makes the folder, on macOS also an application; neither has been tested.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from judgenet.assets import asset
from judgenet.engine.embedded_model import MODEL_FILE, MODEL_LICENCE, MODEL_NAME, fetch_model
from judgenet.engine.versions import licences
from judgenet.version import __version__

ROOT = Path(__file__).resolve().parent.parent
SPEC = ROOT / "packaging" / "judgenet.spec"
MODEL_VARIABLE = "JUDGENET_INSTALLER_MODEL"
STRIPPED = ("libpython3.*", "typst/*.so", "xllamacpp/*.so", "pyarrow/*.so*")
"""Files with 120 MB of debug symbols, which are removed. Others stay as they are: some wheels' libraries break."""
PLACE = "opt/judgenet"
EXTRA_PACKAGES = ("fontconfig-config", "xkb-data")
"""Packages with data files that the libraries in the folder read."""
ACCENT = "#5746C6"

DESKTOP = """[Desktop Entry]
Type=Application
Name=JudgeNet Studio
GenericName=Networks of LLM judges
Comment=Design networks of LLM judges, run them, and find out how far to trust the verdicts
Exec=judgenet %f
Icon=judgenet
Terminal=false
Categories=Science;Education;
MimeType=application/x-judgenet;
StartupWMClass=judgenet
"""

FILE_TYPE = """<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="application/x-judgenet">
    <comment>JudgeNet project</comment>
    <glob pattern="*.judgenet"/>
  </mime-type>
</mime-info>
"""

CONTROL = """Package: judgenet
Version: {version}
Architecture: {architecture}
Maintainer: The JudgeNet developers
Section: science
Priority: optional
Installed-Size: {kilobytes}
Depends: {depends}
Description: networks of LLM judges, and how far to trust their verdicts
 A studio, a command line and a report for comparing two responses by a
 network of language models. Python and all libraries are in the package.
"""


class BuildError(Exception):
    """The installer cannot be built; the message says why and what to do."""


def step(text: str) -> None:
    print(f"== {text}", flush=True)


def megabytes(path: Path) -> str:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if not file.is_symlink() and file.is_file()]
    return f"{sum(file.stat().st_size for file in files) / 1e6:,.0f} MB"


def call(*command: object, **variables: str) -> str:
    """Runs a tool and returns its output.

    :raises BuildError: it failed or is not installed.
    """
    words = [str(word) for word in command]
    try:
        ran = subprocess.run(words, env=os.environ | variables, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise BuildError(f"{words[0]} is not installed here.") from None
    if ran.returncode:
        raise BuildError(
            f"{' '.join(words)} failed (exit code {ran.returncode}):\n{ran.stdout[-3000:]}{ran.stderr[-6000:]}"
        )
    return ran.stdout


def freeze(out: Path, work: Path, with_model: bool) -> Path:
    """Builds the folder with the program, Python and the libraries."""
    if importlib.util.find_spec("PyInstaller") is None:
        raise BuildError("PyInstaller is not installed here. Install it with: pip install -e '.[installer]'")
    variables = {MODEL_VARIABLE: str(fetch_model()) if with_model else ""}
    options = ("--noconfirm", "--clean", "--distpath", out, "--workpath", work)
    call(sys.executable, "-m", "PyInstaller", *options, SPEC, **variables)
    folder = out / "judgenet"
    if sys.platform == "linux" and shutil.which("strip"):
        inside = folder / "_internal"
        files = [file for pattern in STRIPPED for file in inside.glob(pattern) if not file.is_symlink()]
        call("strip", "--strip-unneeded", *files)
    return folder


# --- The Debian package ----------------------------------------------------------------------------------


def needed_packages(folder: Path) -> list[str]:
    """The Debian packages with the libraries that the folder needs and does not contain."""
    binaries = [file for file in folder.rglob("*") if _is_elf(file)]
    have = {file.name for file in folder.rglob("*.so*")}
    needed = set[str]()
    for file in binaries:
        needed |= set(re.findall(r"NEEDED +(\S+)", call("objdump", "-p", file)))
    places = _loader_cache()
    packages = set(EXTRA_PACKAGES)
    for name in sorted(needed - have):
        if name not in places:
            raise BuildError(f"The folder needs {name}, which is not on this system. Install it and build again.")
        packages.add(_owner(places[name]))
    # Libraries copied from this system need its C library or a newer one.
    version = call("dpkg-query", "-W", "-f", "${Version}", "libc6").partition("-")[0]
    return [f"{name} (>= {version})" if name == "libc6" else name for name in sorted(packages)]


def _is_elf(file: Path) -> bool:
    if file.is_symlink() or not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def _loader_cache() -> dict[str, Path]:
    """Where the system's loader finds each library."""
    lines = re.findall(r"^\s*(\S+) \(.*\) => (\S+)$", call("/sbin/ldconfig", "-p"), re.M)
    return {name: Path(place) for name, place in reversed(lines)}


def _owner(file: Path) -> str:
    """The package that a file belongs to; dpkg may know the file by its path with or without /usr."""
    for place in (file, file.resolve(), Path("/usr") / file.relative_to("/"), Path("/") / file.name):
        with_slash = str(place)
        for candidate in (with_slash, with_slash.removeprefix("/usr")):
            answer = subprocess.run(["dpkg-query", "-S", candidate], capture_output=True, text=True, check=False)
            if answer.returncode == 0:
                return answer.stdout.partition(":")[0]
    raise BuildError(f"No package of this system contains {file}.")


def copyright_text() -> str:
    """The licences of JudgeNet and of the packages that come with it."""
    lines = [f"JudgeNet {__version__} is licensed under the Apache License, Version 2.0:"]
    lines += ["/usr/share/common-licenses/Apache-2.0", "", "It comes with:"]
    lines += [f"  {name} {version}: {licence or 'see its own files'}" for name, version, licence in licences()]
    lines += [f"  {MODEL_NAME} ({MODEL_FILE}): {MODEL_LICENCE}, made by Hugging Face (HuggingFaceTB)"]
    return "\n".join(lines) + "\n"


def make_package(folder: Path, out: Path, work: Path) -> Path:
    """Builds the Debian package: the program in /opt, a link in /usr/bin, a menu entry, a file type."""
    tree = work / "package"
    if tree.exists():
        shutil.rmtree(tree)
    shutil.copytree(folder, tree / PLACE, symlinks=True)
    texts = {
        "usr/share/applications/judgenet.desktop": DESKTOP,
        "usr/share/mime/packages/judgenet.xml": FILE_TYPE,
        "usr/share/icons/hicolor/scalable/apps/judgenet.svg": asset("icons", "design.svg")
        .read_text(encoding="utf-8")
        .replace("currentColor", ACCENT),
        "usr/share/doc/judgenet/copyright": copyright_text(),
    }
    for name, text in texts.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    (tree / "usr" / "bin").mkdir(parents=True)
    (tree / "usr" / "bin" / "judgenet").symlink_to(f"/{PLACE}/judgenet")
    architecture = call("dpkg", "--print-architecture").strip()
    kilobytes = sum(file.lstat().st_size for file in tree.rglob("*")) // 1024
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN" / "control").write_text(
        CONTROL.format(
            version=__version__,
            architecture=architecture,
            kilobytes=kilobytes,
            depends=", ".join(needed_packages(folder)),
        ),
        encoding="utf-8",
    )
    package = out / f"judgenet_{__version__}_{architecture}.deb"
    call("dpkg-deb", "--root-owner-group", "-Zzstd", "-z9", "--build", tree, package)
    shutil.rmtree(tree)
    return package


def check(package: Path, root: Path) -> None:
    """Installs the package in a bare Debian without Python, and tests the installed program there."""
    if not (root / "etc").is_dir():
        step(f"A bare Debian in {root}")
        call("debootstrap", "--variant=minbase", _release(), root)
    shutil.copy(package, root / "tmp" / package.name)
    step(f"Installing {package.name} there")
    call("chroot", root, "apt-get", "-qq", "update")
    install = ("apt-get", "-qq", "install", "-y", "--no-install-recommends", "--reinstall", f"/tmp/{package.name}")
    call("chroot", root, *install, DEBIAN_FRONTEND="noninteractive")
    if any((root / "usr" / "bin").glob("python3*")):
        raise BuildError(f"{root} contains Python, so it cannot show that none is needed.")
    folder = root / "tmp" / "check"
    shutil.rmtree(folder, ignore_errors=True)
    command = (sys.executable, "-m", "tests.e2e.installed", "--program", "judgenet", "--root", root, "--folder", folder)
    if subprocess.run([str(word) for word in command], cwd=ROOT, check=False).returncode:
        raise BuildError("The installed program failed its tests.")
    call("chroot", root, "apt-get", "-qq", "remove", "-y", "judgenet", DEBIAN_FRONTEND="noninteractive")
    if (root / PLACE).exists() or not (folder / "out").is_dir():
        raise BuildError("Removing the package left files behind, or removed the user's.")


def _release() -> str:
    codename = re.search(r"^VERSION_CODENAME=(\S+)", Path("/etc/os-release").read_text(encoding="utf-8"), re.M)
    if codename is None:
        raise BuildError("A bare root needs Debian: /etc/os-release names no release.")
    return codename[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-model", action="store_true", help="leave the embedded model out")
    parser.add_argument("--check", type=Path, metavar="ROOT", help="test the package in a bare Debian at ROOT")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the results (dist)")
    parser.add_argument("--work", type=Path, default=ROOT / "build", help="folder for intermediate files (build)")
    options = parser.parse_args()
    out, work = options.out.resolve(), options.work.resolve()
    began = time.monotonic()
    try:
        step(f"Freezing JudgeNet {__version__} (about three minutes)")
        folder = freeze(out, work, not options.no_model)
        step(f"{folder}: {megabytes(folder)}, {time.monotonic() - began:.0f} s")
        if shutil.which("dpkg-deb") is None:
            return 0
        package = make_package(folder, out, work)
        step(f"{package}: {megabytes(package)}, {time.monotonic() - began:.0f} s")
        if options.check is not None:
            check(package, options.check.resolve())
            step("The installed program passed its tests.")
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
