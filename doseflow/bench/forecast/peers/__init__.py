"""The models that ours is compared with; each says in `notes` how it was set up."""
