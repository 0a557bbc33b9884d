"""Documents as pages: their colours."""

import re

from icarus.views.document import Heading, Paragraph, Table, asset, html, page


def test_a_report_has_the_colours_of_every_page_in_the_readers_scheme():
    colours = asset("colours.css")
    report = html("mine", [Heading("games"), Paragraph("text"), Table("", ["a"], [["agrees"]])])
    assert "prefers-color-scheme: dark" in colours and colours in report
    assert colours in page("comparison", "mine", columns="", data="")
    assert not re.findall("#[0-9a-f]{3,6}", report.replace(colours, ""))  # none that one scheme alone can show
    names = set(re.findall(r"var\((--\w+)\)", report))
    assert names and all(colours.count(f"{name}:") == 2 for name in names)
