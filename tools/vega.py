"""Write src/marlene/report/vega.js.gz, the drawing library inside every report: `python tools/vega.py`.

It is Vega, Vega-Lite and Vega-Embed in one file, as vl-convert-python bundles them without a network. Needs
`pip install vl-convert-python==1.9.0`; marlene itself does not.
"""

import gzip
import json
from pathlib import Path

import vl_convert

FOLDER = Path(__file__).parents[1] / "src" / "marlene" / "report"


def main() -> None:
    """Write the bundle as one function, so that its names stay inside; the same bytes every time."""
    bundle = f"(()=>{{{vl_convert.javascript_bundle()}}})();\n"
    if "</script" in bundle.lower() or "<!--" in bundle:
        raise SystemExit("the bundle cannot stand inside a page as it is")
    (FOLDER / "vega.js.gz").write_bytes(gzip.compress(bundle.encode(), 9, mtime=0))
    versions = {"vl-convert": vl_convert.__version__, "vega": vl_convert.get_vega_version()}
    versions |= {"vega-embed": vl_convert.get_vega_embed_version(), "vega-lite": vl_convert.get_vegalite_versions()[-1]}
    print(json.dumps(versions))


if __name__ == "__main__":
    main()
