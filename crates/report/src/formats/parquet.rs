//! All results as a Parquet file: one row per run and figure, or per run and second.

use std::sync::Arc;

use ::parquet::{
    basic::{Compression, LogicalType, Repetition, Type as Physical},
    data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type},
    errors::ParquetError as Cause,
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::Type,
};

use crate::tables::columns::{Cells, Column, Table};

/// The table as the bytes of a Parquet file, compressed by Snappy; missing values are null.
pub(super) fn bytes(table: &Table) -> Result<Vec<u8>, Cause> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("dbdyno version ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema(table)?), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in &table.columns {
        write(&mut group, &column.cells)?;
    }
    group.close()?;
    file.into_inner()
}

fn schema(table: &Table) -> Result<Type, Cause> {
    let fields = table
        .columns
        .iter()
        .map(|column| Ok(Arc::new(field(column)?)));
    Type::group_type_builder("dbdyno")
        .with_fields(fields.collect::<Result<Vec<_>, Cause>>()?)
        .build()
}

fn field(column: &Column) -> Result<Type, Cause> {
    let (physical, repetition) = match column.cells {
        Cells::Text(_) => (Physical::BYTE_ARRAY, Repetition::OPTIONAL),
        Cells::Integer(_) => (Physical::INT64, Repetition::OPTIONAL),
        Cells::Real(_) => (Physical::DOUBLE, Repetition::OPTIONAL),
        Cells::Flag(_) => (Physical::BOOLEAN, Repetition::REQUIRED),
    };
    let is_text = physical == Physical::BYTE_ARRAY;
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(repetition)
        .with_logical_type(is_text.then_some(LogicalType::String))
        .build()
}

fn write(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, cells: &Cells) -> Result<(), Cause> {
    match cells {
        Cells::Text(cells) => {
            let known = cells.iter().flatten();
            let texts: Vec<_> = known.map(|text| ByteArray::from(text.as_str())).collect();
            write_column::<ByteArrayType>(group, &texts, Some(levels(cells)))
        }
        Cells::Integer(cells) => {
            let known: Vec<_> = cells.iter().flatten().copied().collect();
            write_column::<Int64Type>(group, &known, Some(levels(cells)))
        }
        Cells::Real(cells) => {
            let known: Vec<_> = cells.iter().flatten().copied().collect();
            write_column::<DoubleType>(group, &known, Some(levels(cells)))
        }
        Cells::Flag(cells) => write_column::<BoolType>(group, cells, None),
    }
}

/// The definition levels of a column: 1 for a value, 0 for a missing one.
fn levels<T>(cells: &[Option<T>]) -> Vec<i16> {
    cells.iter().map(|cell| i16::from(cell.is_some())).collect()
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    levels: Option<Vec<i16>>,
) -> Result<(), Cause> {
    if let Some(mut column) = group.next_column()? {
        column
            .typed::<T>()
            .write_batch(values, levels.as_deref(), None)?;
        column.close()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use ::parquet::{
        file::reader::{FileReader, SerializedFileReader},
        record::RowAccessor,
    };

    use super::*;

    #[test]
    fn what_is_written_is_read_back_with_its_types_and_gaps() {
        let column = |name: &str, cells| Column {
            name: name.to_owned(),
            cells,
        };
        let table = Table {
            columns: vec![
                column("mix", Cells::Text(vec![Some("1:0".to_owned()), None])),
                column("run", Cells::Integer(vec![Some(7), Some(-8)])),
                column("value", Cells::Real(vec![None, Some(0.25)])),
                column("complete", Cells::Flag(vec![true, false])),
            ],
        };
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes(&table).unwrap()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 1);
        let rows: Vec<_> = reader.into_iter().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].get_string(0).unwrap(), "1:0");
        assert_eq!(rows[0].get_long(1).unwrap(), 7);
        assert!(rows[0].get_bool(3).unwrap() && !rows[1].get_bool(3).unwrap());
        assert_eq!(rows[1].get_double(2).unwrap(), 0.25);
        assert_eq!(
            rows[1].to_string(),
            "{mix: null, run: -8, value: 0.25, complete: false}"
        );
    }
}
