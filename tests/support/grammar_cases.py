"""Grammars with texts that they accept and reject: each construct of EBNF, each ready-made one."""

from __future__ import annotations

# EBNF, what it accepts, what it rejects
CONSTRUCTS: list[tuple[str, list[str], list[str]]] = [
    ('root ::= "a" "b" | "c"', ["ab", "c"], ["", "a", "abc"]),
    ('root ::= ("a" | "b") "c"', ["ac", "bc"], ["a", "c"]),
    ('root ::= "a"* "b"+ "c"?', ["b", "aabbc"], ["", "ac", "cc"]),
    ('root ::= "ab"{2} | "c"{1,2} | "d"{3,}', ["abab", "c", "cc", "ddd", "dddd"], ["ab", "ccc"]),
    ('root ::= "x"{2, -1}', ["xx", "xxx"], ["x"]),
    ('root ::= "x"{0}', [""], ["x"]),
    ('root ::= ("a"+)+', ["a", "aa"], [""]),
    ('root ::= () | "a" ( )', ["", "a"], ["b"]),
    ('root ::= | "a"', ["", "a"], ["aa"]),
    ('root ::= ""', [""], ["a"]),
    ("root ::= [a-cx]", ["a", "c", "x"], ["d", "", "-"]),
    ("root ::= [^a-c]", ["d", "\n", "é", "😀"], ["a", "b", ""]),
    ("root ::= [^]", ["a", "\n", "😀"], ["", "ab"]),
    ("root ::= [a-]", ["a", "-"], ["b"]),
    ("root ::= [-a]", ["a", "-"], ["b"]),
    (r"root ::= [a\-z]", ["a", "-", "z"], ["b"]),
    (r"root ::= [\^\]\[\\]", ["^", "]", "[", "\\"], ["a"]),
    ("root ::= [+#]", ["+", "#"], [""]),
    (r"root ::= [\u4e00-\u9fff]+", ["中文"], ["a"]),
    (r'root ::= "\x41\u00e9\U0001F600"', ["Aé😀"], ["Aé"]),
    (r'root ::= "\n\r\t\b\f\a\v\0\e\"\\\/\'\?"', ["\n\r\t\b\f\a\v\0\x1b\"\\/'?"], [""]),
    ('root ::= "中😀"', ["中😀"], ["中"]),
    ('# before\nroot ::= "a" # after\n | "b"', ["a", "b"], ["# after"]),
    ('root ::= "# no comment"', ["# no comment"], [""]),
    ('root ::=\n  "a"\n  b\nb ::= "c"\n\n', ["ac"], ["a"]),
    ('root # why\n # not\n ::= "a"', ["a"], [""]),
    ('root ::= a.b _c -d\na.b ::= "1"\n_c ::= "2"\n-d ::= "3"', ["123"], ["12"]),
    ('root ::= true\ntrue ::= "t"', ["t"], ["true"]),
    ('root ::= root "a" | "b"', ["b", "baa"], ["", "a"]),
    ("root ::= a\r\na ::= [0-9]\r\n", ["7"], ["a"]),
]

# the name of a ready-made grammar: what it accepts, what it rejects
EXAMPLES: dict[str, tuple[list[str], list[str]]] = {
    "json": (
        [
            "0", "-1.5e+10", ' {"a" : [1, true, null], "\\u00e9\\n" : {} } ', "[]", '"é😀"',
            "\t[1,\r\n2]\n", '"\u007f"',
        ],
        [
            "", "01", "+1", "1.", ".5", "[1,]", "{'a':1}", '"\t"', "NaN", "{1:2}", '"\\x"',
            "[1 2]", "\u00a01", "tru",
        ],
    ),
    "json5": (
        [
            "{a: 1, 'b': \"c\", $_é: 0xAf, d: .5, e: 5., f: +Infinity, g: -NaN,}", "[1,]",
            "// c\n1", "/* a * b **/ null // d\n", "'it\\'s \\\na line'", '"\\0a"', '"\\0"',
            "'\\x41\\u0041'", "\ufeff\u00a0{}", "{ünïcödé:1}", "'\u2028'", "'\\q'", "{null: 1}",
        ],
        [
            "", "01", "0x", "[,]", "{,}", "{a}", "'\\01'", '"\n"', "{a-b: 1}", "/* open",
            "'\\x4'", "undefined", "5.e", "'\\1'", "{1: 2}",
        ],
    ),
    "arithmetic": (
        ["1", "1+2*3", "-(1 + 2) ** -3", "0.5 / 2", "- -1".replace(" ", ""), "2**3**4"],
        ["", "1+", "01", "(1", "1  + 2", "1 2", ".5", "1//2"],
    ),
    "csv": (
        ["a,b\r\n1,2\r\n", "a\nb", '"a ""b"", c",d', "", ",,", '"line\nbreak",x', "ü,é"],
        ['"a', 'a"b', '"a"b', "a\rb", "a\tb"],
    ),
    "sql_select": (
        [
            "SELECT * FROM t", "select distinct a, t.b as c from t where a = 1 and b is not null;",
            "SELECT COUNT(*) FROM a LEFT JOIN b ON a.id = b.id GROUP BY a.x HAVING COUNT(*) > 1 "
            "ORDER BY a.x DESC LIMIT 10 OFFSET 5",
            "SELECT a FROM t WHERE a IN (1, 2) OR NOT (b LIKE 'x''y%' AND c BETWEEN 1 AND 2)",
            'SELECT "a b" + 2 * (3 - c) FROM selection',
        ],
        [
            "SELECT", "SELECT * FROM select", "SELECT * FROM t WHERE", "DELETE FROM t",
            "SELECT * FROM t;SELECT * FROM t", "SELECT a FROM t ORDER a", "ſelect * from t",
        ],
    ),
    "python_literal": (
        [
            "None", "[1, -2.5e3, 'a\\n', \"b'\", True]", "{'a': (1,), 2: {3, 4}}", "()", "(1,)",
            "{}", "0xFF", "1_000", "[\n1,\n2,\n]", "{(1, 'a'): []}",
        ],
        [
            "", "(1)", "{[1]: 2}", "{[1]}", "'a\nb'", "'\\q'", "1__0", "f'a'", "[1 2]", "none",
            "'\\x4'", "--1",
        ],
    ),
    "iso_date": (
        [
            "2024-02-29", "2000-02-29", "1999-12-31T23:59:59Z", "2024-01-01T00:00:00.123+05:30",
            "0001-01-01",
        ],
        ["2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-1-01", "2024-01-01T24:00:00",
         "2024-01-01T00:00"],
    ),
    "url": (
        [
            "https://example.org", "http://user:pw@host:8080/a/b;c?q=1&r=%20#frag", "ftp://[::1]/",
            "http://[2001:db8::8:800:200c:417a]:80", "http://192.168.0.1/?a/b", "x+y://",
            "http://[::ffff:1.2.3.4]",
        ],
        ["example.org", "http:/a", "http://a b", "http://[:::1]", "http://a/%2", "://x",
         "http://[1:2:3:4:5:6:7:8:9]", "http://a#b#c"],
    ),
    "markdown_code_fence": (
        ["```\n```", "```python\nprint(1)\n```\n", "```c++\n  ``\n`a`\n    ```\n```"],
        ["```python\nprint(1)", "```\n```\n```\n```", "```a b\n```", "``\n``", "```\n ```x\n```"],
    ),
    "chess_san": (
        [
            "1. e4 e5 2. Nf3 Nc6", "1. e4", "1. d4 d5 2. c4 dxc4 3. Nbd2 O-O-O", "1. exd8=Q# Kf7",
            "12. Qh4e1 R1xa3+",
        ],
        ["", "e4", "1. e9", "1. axc4", "1. e8", "1. O-O-O-O", "1.e4", "1. Kae1"],
    ),
}  # fmt: skip
