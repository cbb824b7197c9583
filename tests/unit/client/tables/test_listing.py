from curator_client.tables.listing import Listing

ITEMS = [{"name": "north", "beds": 12, "more": 1}, {"name": "south", "beds": None}]


def listing():
    return Listing.of_dicts(ITEMS, ["name", "beds"], note="two wards")


def test_a_listing_is_rows_of_the_columns_that_were_asked_for():
    assert len(listing()) == 2
    assert listing()[1] == {"name": "south", "beds": None}
    assert list(listing()) == listing().to_dicts()
    assert "two wards" in repr(listing())


def test_frames_and_files_have_the_same_columns_and_rows(tmp_path):
    pandas = listing().to_pandas()
    assert list(pandas.columns) == ["name", "beds"]
    assert pandas["name"].tolist() == ["north", "south"]
    polars = listing().to_polars()
    assert polars.columns == ["name", "beds"]
    assert polars["beds"].to_list() == [12, None]
    assert listing().to_csv().splitlines() == ["name,beds", "north,12", "south,"]
    assert listing().to_csv(tmp_path / "wards.csv") is None
    assert (tmp_path / "wards.csv").read_text() == listing().to_csv()
