"""The shards of a project on the page Run: their state, and the view that watches and steers them."""
