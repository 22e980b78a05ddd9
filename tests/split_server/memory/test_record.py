"""Predicted against actual memory."""

from __future__ import annotations

from split_server.memory.record import PredictionRecord, Ratios, quantile

_MIB = 1 << 20


def test_nothing_is_claimed_before_the_first_pass() -> None:
    record = PredictionRecord()
    assert record.ratios() is None
    assert record.correction == 1.0


def test_ratios_are_actual_over_predicted_bytes() -> None:
    record = PredictionRecord()
    for peak in (5, 10, 15, 20):
        record.add(growth=10 * _MIB, grown=10 * _MIB, workspace=10 * _MIB, peak=peak * _MIB)
    assert record.ratios() == Ratios(4, 1.0, 1.5, 1.5)


def test_a_workspace_that_was_predicted_too_small_is_corrected() -> None:
    record = PredictionRecord()
    for _ in range(4):
        record.add(growth=0, grown=0, workspace=10 * _MIB, peak=99 * _MIB)
    assert record.correction == 1.0, "the first passes take what is kept for good"
    for _ in range(13):
        record.add(growth=0, grown=0, workspace=10 * _MIB, peak=17 * _MIB)
    assert record.correction == 1.7
    ratios = record.ratios()
    assert ratios is not None
    # Eight passes were under-predicted before it was noticed, those after them no more.
    assert (ratios.count, ratios.p50, ratios.most) == (17, 1.0, 9.9)


def test_single_outliers_correct_nothing() -> None:
    record = PredictionRecord()
    for number in range(40):
        peak = 30 * _MIB if number % 5 == 0 else 8 * _MIB
        record.add(growth=0, grown=0, workspace=10 * _MIB, peak=peak)
    assert record.correction == 1.0


def test_quantiles_are_values_that_occurred() -> None:
    assert [quantile([1.0, 2.0, 3.0, 4.0], share) for share in (0.1, 0.5, 0.95)] == [1.0, 2.0, 4.0]


def test_the_correction_stays_within_bounds() -> None:
    small, large = PredictionRecord(), PredictionRecord()
    for _ in range(12):
        small.add(growth=0, grown=0, workspace=10 * _MIB, peak=_MIB)
        large.add(growth=0, grown=0, workspace=10 * _MIB, peak=1000 * _MIB)
    assert small.correction == 1.0
    assert large.correction == 3.0


def test_passes_too_small_to_tell_correct_nothing() -> None:
    record = PredictionRecord()
    for _ in range(8):
        record.add(growth=0, grown=0, workspace=1000, peak=_MIB)
    assert record.correction == 1.0


def test_old_passes_are_forgotten() -> None:
    record = PredictionRecord()
    for _ in range(8):
        record.add(growth=0, grown=0, workspace=10 * _MIB, peak=20 * _MIB)
    for _ in range(300):
        record.add(growth=0, grown=0, workspace=10 * _MIB, peak=10 * _MIB)
    ratios = record.ratios()
    assert ratios is not None
    assert ratios.count == 256
    assert record.correction == 1.0
