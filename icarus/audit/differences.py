"""What two results of searches do not have alike."""

import attrs
import numpy as np

from icarus.engine.result import Result


def differences(first: Result, second: Result) -> list[str]:
    """The names of the fields in which two results differ, but for the clock and the states; records component by component."""
    fields = []
    for name in (field.name for field in attrs.fields(Result) if field.name not in ("seconds", "_state", "records")):
        a, b = getattr(first, name), getattr(second, name)
        same = np.array_equal(a, b, equal_nan=a.dtype.kind == "f") if isinstance(a, np.ndarray) else a == b
        fields += [] if same else [name]
    for name in dict.fromkeys([*first.records, *second.records]):
        both = name in first.records and name in second.records
        same = both and np.array_equal(first.records[name].rows, second.records[name].rows)
        fields += [] if same else [f"records of {name}"]
    return fields
