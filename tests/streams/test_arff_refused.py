"""What is said about an ARFF file that cannot be read."""

import errno
from pathlib import Path

import pytest

from marlene._common.errors import MarleneError
from marlene.streams.arff import read_arff
from tests.streams.arff_files import MULAN, YAB, header, refuser, writer

arff = pytest.fixture(writer)
refused = pytest.fixture(refuser)


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(MarleneError, match=r"absent\.arff: cannot be read \(No such file"):
        read_arff(tmp_path / "absent.arff")
    with pytest.raises(MarleneError, match=r"cannot be read \(Is a directory"):
        read_arff(tmp_path)
    with pytest.raises(MarleneError, match=r"cannot be read \(.*null"):
        read_arff("a\0b.arff")
    with pytest.raises(MarleneError, match="cannot be read"):
        read_arff("x" * 5000)


def test_a_file_that_may_not_be_read(arff, monkeypatch):
    path = arff(YAB + "1,2,p\n")

    def denied(*_, **__):  # whoever runs the tests may be allowed to read every file
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(MarleneError, match=r"cannot be read \(Permission denied"):
        read_arff(path)


Y = "@relation 'r -C 1'\n@attribute y {0,1}\n"
QUESTION_MARK = "the value ? must be in quotes, because ? means a missing value"
TYPE = "expected the type of attribute 'a' (numeric, real, integer, string, date or {value, …}), found"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: expected @relation, found the end of the file"),
        ("% nothing\n\n", "line 3: expected @relation, found the end of the file"),
        ("1,2,3\n", "line 1: expected @relation, found '1,2,3'"),
        ("@attribute a numeric\n", "line 1: expected @relation, found '@attribute'"),
        ("@relation\n", "line 1: expected the relation's name, found the end of the line"),
        ("@relation % r\n", "line 1: expected the relation's name, found '% r'"),
        ("@relation 'r' s\n", "line 1: expected the end of the line, found 's'"),
        ("@relation 'r\n", 'line 1: expected a closing quote, found "\'r"'),
        ("@relation r\n@relation s\n", "line 2: expected @attribute, found '@relation'"),
        ("@relation r\n@data\n", "line 2: expected @attribute, found '@data'"),
        (Y, "line 3: expected @attribute or @data, found the end of the file"),
        (Y + "@nonsense\n", "line 3: expected @attribute or @data, found '@nonsense'"),
        (Y + "@data 1\n", "line 3: expected the end of the line, found '1'"),
        (Y + "@data", "line 4: expected a row, found the end of the file"),
        (Y + "@data\n% 1\n\n", "line 6: expected a row, found the end of the file"),
        (Y + "@attribute\n", "line 3: expected the attribute's name, found the end of the line"),
        (Y + "@attribute {0,1}\n", "line 3: expected the attribute's name, found '{0,1}'"),
        (Y + "@attribute a\n", f"line 3: {TYPE} the end of the line"),
        (Y + "@attribute a % {0,1}\n", f"line 3: {TYPE} '% {{0,1}}'"),
        (Y + "@attribute a b numeric\n", f"line 3: {TYPE} 'b numeric'"),
        (Y + "@attribute 'a numeric\n", 'line 3: expected a closing quote, found "\'a numeric"'),
        (Y + "@attribute y numeric\n", "line 3: two attributes are named 'y'"),
        (Y + "@attribute a {}\n", "line 3: expected a value of attribute 'a', found '}'"),
        (Y + "@attribute a {b,,c}\n", "line 3: expected a value of attribute 'a', found ',c}'"),
        (Y + "@attribute a {b,c\n", "line 3: expected }, found the end of the line"),
        (Y + "@attribute a {b,c} d\n", "line 3: expected the end of the line, found 'd'"),
        (Y + "@attribute a {b,'b'}\n", "line 3: attribute 'a': the value 'b' is declared twice"),
        (Y + "@attribute a {b,?}\n", f"line 3: attribute 'a': {QUESTION_MARK}"),
        (Y + "@attribute a {'b'c}\n", "line 3: expected a comma, found 'c}'"),
        (Y + "@attribute a numeric 3\n", "line 3: expected the end of the line, found '3'"),
    ],
)
def test_headers_that_are_refused(refused, text, said):
    assert refused(text) == said


def test_types_that_are_refused(refused):
    said = refused(f"{Y}@attribute a Relational\n@data\n1,x\n")
    assert said.startswith("line 3: attribute 'a' is of type relational, which cannot be used; expected ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "@attribute a date yyyy-EEE\n@data\n1,x\n",
            "line 3: expected a form of dates of y, M, d, H, m, s and S, found",
        ),
        ("@attribute a date yyyy 3\n@data\n1,x\n", "line 3: expected the end of the line, found '3'"),
        (
            "@attribute a date dd.MM.yyyy\n@data\n1,x\n",
            "line 5, column 'a': expected a date written as '%d.%m.%Y', found",
        ),
        ("@attribute a date\n@data\n1,1999-12-31\n1,x\n", "line 6, column 'a': expected a date such as"),
        ("@attribute a string\n@data\n1,'x\n", "line 5: "),
    ],
)
def test_strings_and_dates_that_are_refused(refused, text, said):
    assert refused(Y + text).startswith(said)


def test_labels_that_are_strings(refused):
    said = refused("@relation 'r: -C 1'\n@attribute y string\n@attribute a numeric\n@data\nx,1\n")
    assert said == "line 2: label 'y': expected a type with the values 0 and 1"


@pytest.mark.parametrize(
    ("count", "said"),
    [
        ("0", "cannot take 0 of 1 columns as labels"),
        ("2", "cannot take 2 of 1 columns as labels"),
        ("x", "expected the number of labels after -C in the relation, found 'x'"),
        ("", "expected the number of labels after -C in the relation, found nothing"),
        ("9" * 5000, "expected the number of labels after -C in the relation, found '9999999"),
    ],
)
def test_label_counts_that_are_refused(refused, count, said):
    assert refused(f"@relation 'r: -C {count}'\n@attribute y {{0,1}}\n@data\n1\n").startswith(f"line 1: {said}")


@pytest.mark.parametrize("values", ["{0,1,2}", "{a,b}", "{0}", "{-1,1}", "{true,no}", "{true,TRUE}"])
def test_label_types_that_are_refused(refused, values):
    said = refused(header(f"y {values}", "a numeric") + "0,0\n")
    assert said.startswith("line 2: label 'y': expected the values 0 and 1, false and true, or no and yes, found '")


NUMBER = "attribute 'a': expected a number, or ? for a missing value, found"
FINITE = NUMBER.replace("a number", "a finite number")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("1,2", "expected 3 values, found 2"),
        ("1,2,p,4", "expected 3 values, found more"),
        ("1,,p", "expected a value, found ',p'"),
        ("1,2,", "expected a value, found the end of the line"),
        (",1,2", "expected a value, found ',1,2'"),
        ("1,2,'p", 'expected a closing quote, found "\'p"'),
        ("1,2,q", "attribute 'b': expected one of 'p', 'q r', 's', found 'q'"),
        ("1,2,'Q r'", "attribute 'b': expected one of 'p', 'q r', 's', found 'Q r'"),
        ("1,2,'?'", "attribute 'b': expected one of 'p', 'q r', 's', found '?'"),
        ("1,'?',p", f"{NUMBER} '?'"),
        ("2,2,p", "label 'y': expected one of '0', '1', found '2'"),
        ("1,x,p", f"{NUMBER} 'x'"),
        ("1,0x10,p", f"{NUMBER} '0x10'"),
        ("1,1_000,p", f"{NUMBER} '1_000'"),
        ("1,1-2,p", f"{NUMBER} '1-2'"),
        ("1,' 1',p", f"{NUMBER} '1'"),
        ("1,٣,p", f"{NUMBER} '٣'"),
        ("1,nan,p", f"{FINITE} 'nan'"),
        ("1,-Inf,p", f"{FINITE} '-Inf'"),
        ("1,1e999,p", f"{FINITE} '1e999'"),
        ("{1 -1e999}", f"{FINITE} '-1e999'"),
        ("{1 NaN}", f"{FINITE} 'NaN'"),
        ("{1 1_0}", f"{NUMBER} '1_0'"),
        ("{0 2}", "label 'y': expected one of '0', '1', found '2'"),
        ("{2 q}", "attribute 'b': expected one of 'p', 'q r', 's', found 'q'"),
        ("{3 1}", "expected an index from 0 to 2, found '3'"),
        ("{-1 1}", "expected an index from 0 to 2, found '-1'"),
        ("{1.0 1}", "expected an index from 0 to 2, found '1.0'"),
        ("{1_0 1}", "expected an index from 0 to 2, found '1_0'"),
        ("{x 1}", "expected an index from 0 to 2, found 'x'"),
        ("{" + str(10**30) + " 1}", "expected an index from 0 to 2, found '1" + "0" * 30 + "'"),
        ("{" + "9" * 5000 + " 1}", "expected an index from 0 to 2, found '" + "9" * 40 + "'…"),
        ("{1 1,1 2}", "attribute 'a' (index 1) is given twice"),
        ("{1 1,0 1,01 1}", "attribute 'a' (index 1) is given twice"),
        ("{0 1,1 1,2 p,0 1}", "expected at most 3 values between { and }, found more"),
        ("{1}", "expected a space and the value of attribute 'a', found '}'"),
        ("{1 1", "expected }, found the end of the line"),
        ("{1", "expected a space and the value of attribute 'a', found the end of the line"),
        ("{", "expected an index, found the end of the line"),
        ("{1 1,}", "expected an index, found '}'"),
        ("{1 1,,2 p}", "expected an index, found ',2 p}'"),
        ("{1,1}", "expected a space and the value of attribute 'a', found ',1}'"),
        ("{1'1'}", "expected a space and the value of attribute 'a', found \"'1'}\""),
        ("{1 1} 2", "expected the end of the line after }, found '2'"),
        ("{1 1}}", "expected the end of the line after }, found '}'"),
        ("{1 1}, {5}", "expected the end of the line, found the weight of an instance, which cannot be used"),
        ("{1 1} {5}", "expected the end of the line, found the weight of an instance, which cannot be used"),
        ("1,2,p,{5}", "expected the end of the line, found the weight of an instance, which cannot be used"),
        ("1,2,p}", "expected a comma, found '}'"),
        ("@data", "expected 3 values, found 1"),
    ],
)
def test_rows_that_are_refused(refused, row, said):
    assert refused(f"{YAB}\n% good rows first\n1,2,p\n{{}}\n{row}\n1,2,s\n") == f"line 10: {said}"


@pytest.mark.parametrize("row", ["2,0", "{0 2}", "-1,0", "0.5,0"])
def test_numeric_labels_that_are_refused(refused, row):
    said = refused(header("y numeric", "a numeric") + row)
    assert said.startswith("line 5: label 'y': expected 0 or 1, found '")


@pytest.mark.parametrize("place", [b"%% \xff\n", b"", b"1,2,p\n"])
def test_text_in_another_encoding_is_refused(refused, place):
    bad = place + b"1,2,'\xe9'\n" if place != b"%% \xff\n" else place
    said = refused(YAB.encode() + bad)
    line, byte = (7, "0xe9") if place.startswith(b"1") else (6, "0xff" if place else "0xe9")
    assert said.startswith(f"line {line}: expected UTF-8 text, found the byte {byte}")
    assert "line 1: expected UTF-8 text" in refused(YAB.encode("utf-16"))
    assert "unexpected end of data" in refused(YAB.encode() + b"% \xe2\x82")


def test_too_many_values(refused, monkeypatch):
    monkeypatch.setattr("marlene.streams._arff_header.MOST_VALUES", 3)
    assert refused(Y + "@attribute a {b,c,d,e}\n") == "line 3: attribute 'a' has more than 3 values"


def test_memory_that_is_not_there(arff, monkeypatch):
    def none_left(*_):
        raise MemoryError

    monkeypatch.setattr("marlene.streams.arff._dense", none_left)
    with pytest.raises(MarleneError, match="not enough memory"):
        read_arff(arff(YAB + "1,2,p\n"))


def test_labels_that_are_not_said_or_not_there(arff, refused, tmp_path):
    assert "nothing says which columns are labels" in refused(MULAN)
    assert "there is no label column named 'z'" in refused(MULAN, labels=["z"])
    with pytest.raises(MarleneError, match=r"absent\.xml: cannot be read \(No such file"):
        read_arff(arff(MULAN), xml=tmp_path / "absent.xml")


BOMB = '<!DOCTYPE labels [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><labels><label name="&b;"/></labels>'


@pytest.mark.parametrize(
    ("xml", "said"),
    [
        (BOMB, "line 1: expected <labels>, found a document type"),
        ('<!DOCTYPE labels SYSTEM "file:///etc/passwd"><labels/>', "line 1: expected <labels>, found a document type"),
        ("<labels>\n<label name='y'>", "line 2: expected a label file of Mulan in XML (no element found)"),
        ("", "line 1: expected a label file of Mulan in XML (no element found)"),
        ("@relation r", "line 1: expected a label file of Mulan in XML"),
        ("<labels/>", "there is no label"),
        ("<html/>", "line 1: expected <labels>, found <html>"),
        ("<labels>\n<x/></labels>", "line 2: expected <label>, found <x>"),
        ("<labels><label/></labels>", 'line 1: expected <label name="…">, found a label without a name'),
        ('<labels><label name="y"/><label name="y"/></labels>', "line 1: the label 'y' is named twice"),
        ('<?xml version="1.0" encoding="nonsense"?><labels/>', "unknown encoding"),
        ('<?xml version="1.0" encoding="utf-7"?><labels/>', ""),
        ("<labels>" + "<label>" * 100_000, "line 1: expected <label name"),
    ],
)
def test_label_files_that_are_refused(arff, tmp_path, xml, said):
    (tmp_path / "file.xml").write_text(xml)
    with pytest.raises(MarleneError) as caught:
        read_arff(arff(MULAN))
    assert str(caught.value).startswith(str(tmp_path / "file.xml"))
    assert said in str(caught.value)


def test_deeply_nested_label_files(arff, tmp_path):
    (tmp_path / "file.xml").write_text(
        "<labels><label name='y'><label name='y &amp; z'>" + "</label>" * 2 + "</labels>"
    )
    assert read_arff(arff(MULAN)).labels == ("y", "y & z")
    deep = "".join(f"<label name='{i}'>" for i in range(50_000)) + "</label>" * 50_000
    (tmp_path / "file.xml").write_text(f"<labels>{deep}</labels>")
    with pytest.raises(MarleneError, match="there is no label column named '0'"):
        read_arff(arff(MULAN))
