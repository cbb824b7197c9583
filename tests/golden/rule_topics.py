"""Under which heading of the researchers' page each rule stands."""

TOPICS = {
    "How a question is written": (
        "clause construct empty_text materialized one_statement only_select "
        "optimizer_hint recursive sample symbol syntax unread_text"
    ),
    "Names, quotes and literals": (
        "ambiguous_name column_list common_table_name control_character "
        "duplicate_name identifier literal_range literal_type name_needed non_ascii "
        "null_literal number_form open_comment open_quote parameter qualified_table "
        "string_concatenation string_form unknown_column unknown_table"
    ),
    "Conditions": (
        "any_all boolean_needed brackets_needed column_types condition empty_list "
        "in_column in_list_item is_null_operand is_true like like_pattern operand "
        "operator pattern tuple"
    ),
    "Numbers, texts and codes of a row": (
        "age_band arguments arithmetic cast decimal_places division extreme function "
        "hierarchy_needed level number_needed power result_types results_only "
        "round_places text_literal text_needed text_part width_bucket"
    ),
    "Dates and times": (
        "age_years date_diff date_format date_unit extract_operand extract_part "
        "interval"
    ),
    "Tables and joins": (
        "asof_join comma_join constant_rows cross_join from_clause full_join join "
        "join_needs_unit_key lateral_join natural_join nullable_unit_key "
        "positional_join private_table_needed public_first public_join_key "
        "right_join semi_join star unit_key_opaque using"
    ),
    "Subqueries, DISTINCT and UNION": (
        "distinct distinct_below distinct_on exists_form in_query_one in_query_unit "
        "public_query scalar_subquery set_operation subquery_place subquery_tie "
        "union_columns union_unit_key"
    ),
    "Groups": (
        "group_by_form group_by_unit grouping_sets key_not_selected literal_selected "
        "no_cells no_public_domain not_grouped select_item"
    ),
    "Aggregates": (
        "aggregate aggregate_argument aggregate_distinct aggregate_filter "
        "aggregate_needed aggregate_place average_opaque count_arguments "
        "first_last_order ignore_nulls min_max no_bounds order_in_call quantile "
        "within_group zero_sensitivity"
    ),
    "Windows over a patient's rows": (
        "frame named_window order_term qualify rank row_numbers window window_form "
        "window_frame window_needed window_partition window_place"
    ),
    "What is done to the answer": (
        "answer_window answer_window_order answer_window_rows computed_form "
        "computed_operand division_by_zero having having_form limit offset order_by "
        "round_digits"
    ),
    "How large a question may be": (
        "answer_size answer_window_size computed_size depth exists_count in_list_size "
        "relation_count row_bound_needed row_bound_too_large text_size text_width "
        "token_count too_complex too_costly too_many_groups"
    ),
}
"""A heading, and the names of its rules in the order of the alphabet."""

OF_PRIVACY = (
    *("aggregate_needed", "group_by_unit", "in_query_unit", "join_needs_unit_key"),
    *("min_max", "no_bounds", "no_public_domain", "star", "subquery_tie"),
    *("unit_key_opaque", "window_partition"),
)
"""Rules that protect patients, and that SQL elsewhere does not have."""
