//! Protobuf's wire format: the fields of one message, with places.
//!
//! The primitives are `quick-protobuf`'s. What is added here are limits and places: a field never reaches out of its message, and every
//! complaint names the byte of the file.

use quick_protobuf::BytesReader;

/// A message in the file: its bytes, and where they begin.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Bytes of the file before it.
    pub at: usize,
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// An integer of variable length.
    Varint(u64),
    /// Four bytes.
    Fixed32(u32),
    /// Eight bytes.
    Fixed64(u64),
    /// A string, bytes, a message, or a packed list.
    Bytes(Message<'a>),
}

/// One field of a message.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The field's number in the schema.
    pub number: u32,
    /// What it holds.
    pub value: Value<'a>,
    /// Where it begins in the file, its key included.
    pub at: usize,
    /// Where it ends in the file.
    pub end: usize,
}

/// The bytes are no protobuf message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// The byte of the file.
    pub at: usize,
    /// What is wrong there.
    pub what: String,
}

impl<'a> Message<'a> {
    /// A whole file.
    pub fn file(bytes: &'a [u8]) -> Message<'a> {
        Message { bytes, at: 0 }
    }

    /// The fields, in the order of the file; after the first error nothing more comes.
    pub fn fields(self) -> Fields<'a> {
        Fields { message: self, reader: BytesReader::from_bytes(self.bytes), broken: false }
    }

    /// The text, if it is UTF-8.
    ///
    /// # Errors
    /// The first byte that is not.
    pub fn text(self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes)
            .map_err(|error| Malformed { at: self.at + error.valid_up_to(), what: "text is not UTF-8".to_owned() })
    }
}

impl<'a> Field<'a> {
    /// The message, string or bytes in the field.
    ///
    /// # Errors
    /// It holds a number.
    pub fn message(self) -> Result<Message<'a>, Malformed> {
        match self.value {
            Value::Bytes(message) => Ok(message),
            _ => Err(self.wrong("a number where a message or text belongs")),
        }
    }

    /// The text in the field.
    ///
    /// # Errors
    /// It holds a number, or bytes that are not UTF-8.
    pub fn text(self) -> Result<&'a str, Malformed> {
        self.message()?.text()
    }

    /// The integer in the field.
    ///
    /// # Errors
    /// It holds something else.
    pub fn int(self) -> Result<i64, Malformed> {
        match self.value {
            Value::Varint(value) => Ok(value.cast_signed()),
            _ => Err(self.wrong("no integer where one belongs")),
        }
    }

    /// The float in the field.
    ///
    /// # Errors
    /// It holds something else.
    pub fn float(self) -> Result<f32, Malformed> {
        match self.value {
            Value::Fixed32(bits) => Ok(f32::from_bits(bits)),
            _ => Err(self.wrong("no float where one belongs")),
        }
    }

    /// Adds the integer, or the integers of a packed list.
    ///
    /// # Errors
    /// It holds something else.
    pub fn ints(self, into: &mut Vec<i64>) -> Result<(), Malformed> {
        let Value::Bytes(list) = self.value else {
            into.push(self.int()?);
            return Ok(());
        };
        let mut reader = BytesReader::from_bytes(list.bytes);
        while !reader.is_eof() {
            let at = list.at + list.bytes.len() - reader.len();
            let value = reader
                .read_varint64(list.bytes)
                .map_err(|_| Malformed { at, what: "a list of integers ends inside one".to_owned() })?;
            into.push(value.cast_signed());
        }
        Ok(())
    }

    /// Adds the float, or the floats of a packed list.
    ///
    /// # Errors
    /// It holds something else.
    pub fn floats(self, into: &mut Vec<f32>) -> Result<(), Malformed> {
        let Value::Bytes(list) = self.value else {
            into.push(self.float()?);
            return Ok(());
        };
        let (floats, rest) = list.bytes.as_chunks::<4>();
        into.extend(floats.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        if rest.is_empty() { Ok(()) } else { Err(self.wrong("a list of floats ends inside one")) }
    }

    fn wrong(self, what: &str) -> Malformed {
        Malformed { at: self.at, what: format!("field {}: {what}", self.number) }
    }
}

/// The fields of a message.
#[derive(Debug)]
pub struct Fields<'a> {
    message: Message<'a>,
    reader: BytesReader,
    broken: bool,
}

impl<'a> Fields<'a> {
    fn offset(&self) -> usize {
        self.message.bytes.len() - self.reader.len()
    }

    fn read(&mut self) -> Result<Field<'a>, Malformed> {
        let bytes = self.message.bytes;
        let at = self.message.at + self.offset();
        let wrong = |what: &str| Malformed { at, what: what.to_owned() };
        let key = self.reader.read_varint64(bytes).map_err(|_| wrong("the message ends inside a field's key"))?;
        let number = u32::try_from(key >> 3).ok().filter(|number| (1..1 << 29).contains(number));
        let number = number.ok_or_else(|| wrong("no field has this number"))?;
        let cut = |what: &str| wrong(&format!("field {number}: {what}"));
        let value = match key & 7 {
            0 => Value::Varint(self.reader.read_varint64(bytes).map_err(|_| cut("the message ends inside a number"))?),
            1 => Value::Fixed64(self.reader.read_fixed64(bytes).map_err(|_| cut("the message ends inside a number"))?),
            5 => Value::Fixed32(self.reader.read_fixed32(bytes).map_err(|_| cut("the message ends inside a number"))?),
            2 => {
                // The primitive cuts long lengths silently: they are looked at first.
                let mut ahead = self.reader.clone();
                let length = ahead.read_varint64(bytes).map_err(|_| cut("the message ends inside a length"))?;
                let content = self.reader.read_bytes(bytes).ok().filter(|content| content.len() as u64 == length);
                let content = content.ok_or_else(|| {
                    cut(&format!("{length} bytes are said to follow, and the message has {} more", ahead.len()))
                })?;
                Value::Bytes(Message { bytes: content, at: self.message.at + self.offset() - content.len() })
            }
            _ => return Err(cut("groups are no part of ONNX")),
        };
        Ok(Field { number, value, at, end: self.message.at + self.offset() })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, Malformed>;

    fn next(&mut self) -> Option<Result<Field<'a>, Malformed>> {
        if self.broken || self.reader.is_eof() {
            return None;
        }
        let field = self.read();
        self.broken = field.is_err();
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<Field<'_>>, Malformed> {
        Message::file(bytes).fields().collect()
    }

    #[test]
    fn fields_know_their_places() {
        let fields = read(&[0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i', 0x1d, 0, 0, 0x80, 0x3f]).unwrap();
        let places: Vec<_> = fields.iter().map(|field| (field.number, field.at, field.end)).collect();
        assert_eq!(places, [(1, 0, 3), (2, 3, 7), (3, 7, 12)]);
        assert_eq!(fields[0].int(), Ok(150));
        assert_eq!((fields[1].text(), fields[1].message().unwrap().at), (Ok("hi"), 5));
        assert_eq!(fields[2].float(), Ok(1.0));
        assert!(fields[0].message().is_err() && fields[1].int().is_err() && fields[1].float().is_err());
    }

    #[test]
    fn what_is_cut_is_told_with_its_place() {
        let cases: [(&[u8], usize, &str); 6] = [
            (&[0x08, 0x01, 0x08], 2, "inside a number"),
            (&[0x12, 0x05, b'a'], 0, "5 bytes are said to follow, and the message has 1 more"),
            (&[0x12, 0x81, 0x80, 0x80, 0x80, 0x10, b'a'], 0, "4294967297 bytes"),
            (&[0x80], 0, "inside a field's key"),
            (&[0x00, 0x01], 0, "no field has this number"),
            (&[0x0b], 0, "groups"),
        ];
        for (bytes, at, part) in cases {
            let error = read(bytes).expect_err(part);
            assert!(error.at == at && error.what.contains(part), "{error:?}");
        }
    }

    #[test]
    fn lists_are_packed_or_not() {
        let mut ints = Vec::new();
        for field in read(&[0x08, 0x07, 0x0a, 0x03, 0x01, 0x96, 0x01]).unwrap() {
            field.ints(&mut ints).unwrap();
        }
        assert_eq!(ints, [7, 1, 150]);
        let cut = read(&[0x0a, 0x02, 0x01, 0x96]).unwrap()[0].ints(&mut ints).unwrap_err();
        assert_eq!(cut.at, 3);
        assert!(read(&[0x0a, 0x03, 0, 0, 0]).unwrap()[0].floats(&mut Vec::new()).is_err());
    }
}
