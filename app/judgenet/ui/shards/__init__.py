"""The shards of a project, watched and steered from the desk."""
