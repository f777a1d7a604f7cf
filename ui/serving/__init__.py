"""The server around the pages: routes, files of views, access, limits, and sending."""
