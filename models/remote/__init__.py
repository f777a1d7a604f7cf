"""Models that read on other machines: replicas of Ray Serve, asked over HTTP. `models.remote.backend` says where they are."""
