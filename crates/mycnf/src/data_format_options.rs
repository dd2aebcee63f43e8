//! Options by which data is made.

/// Options that influence data when it is made: data made with another value is another data set.
pub const SHAPING: [&str; 15] = [
    "character_set_server",
    "collation_server",
    "default_storage_engine",
    "default_table_encryption",
    "innodb_checksum_algorithm",
    "innodb_compression_default",
    "innodb_compression_level",
    "innodb_data_file_path",
    "innodb_default_row_format",
    "innodb_encrypt_tables",
    "innodb_file_format",
    "innodb_file_per_table",
    "innodb_page_size",
    "innodb_undo_tablespaces",
    "lower_case_table_names",
];
