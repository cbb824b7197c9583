"""A manual as ``make docs`` builds one: what a server takes for one, and a page."""


def built_manual(folder, page="<html><h1>Manual</h1></html>"):
    """Write the files that every built manual has; return their folder."""
    for name in ("objects.inv", "searchindex.js", ".buildinfo"):
        (folder / name).write_text("Search.setIndex({})")
    (folder / "index.html").write_text(page)
    return folder
