"""The documented grammar of SQL filters and actions, as lark reads it.

One grammar has both languages, which share their terms. A condition and a term in parentheses look
alike until they end, so `group` takes either, and `busproof.filters.parser` checks which one it is.
"""

from typing import Final

__all__ = ["COMPARISON", "GRAMMAR", "RESERVED", "VALUE", "WORDS"]

GRAMMAR: Final = r"""
?condition: conjunction | conjunction (_OR conjunction)+ -> or_
?conjunction: negation | negation (_AND negation)+ -> and_
?negation: _NOT negation -> not_ | predicate
?predicate: term (COMPARISON | EQUALS) term             -> compare
    | term _IS NULL                                     -> is_null
    | term _IS _NOT NULL                                -> is_not_null
    | term _IN _OPEN term (_COMMA term)* _CLOSE         -> in_
    | term _NOT _IN _OPEN term (_COMMA term)* _CLOSE    -> not_in
    | term _LIKE term [_ESCAPE term]                    -> like
    | term _NOT _LIKE term [_ESCAPE term]               -> not_like
    | _EXISTS _OPEN property _CLOSE                     -> exists
    | term
?term: product | product ((PLUS | MINUS) product)+ -> arithmetic
?product: factor | factor (TIMES factor)+ -> arithmetic
?factor: MINUS factor -> negative | PLUS factor -> positive | atom
?atom: INTEGER -> integer | DECIMAL -> decimal | FLOAT -> decimal | TEXT -> text
    | TRUE -> true | FALSE -> false | NULL -> null | PARAMETER -> parameter
    | NEWID _OPEN _CLOSE -> newid | PROPERTY _OPEN term _CLOSE -> named
    | property | _OPEN condition _CLOSE -> group
property: [SCOPE] (NAME | DELIMITED | QUOTED)

statements: statement (_separator? statement)* _SEMICOLON?
_separator: _SEMICOLON | _COMMA | _SEMICOLON _COMMA
?statement: _SET property EQUALS term -> set | _REMOVE property -> remove

SCOPE.3: /(sys|user)\s*\./i
NEWID.3: /newid(?=\s*\()/i
PROPERTY.3: /(property|p)(?=\s*\()/i
NAME: /(?!(AND|OR|NOT|IS|NULL|IN|LIKE|ESCAPE|EXISTS|TRUE|FALSE)\b)[^\W\d_]\w*/i
DELIMITED: /\[(?:[^\]]|\]\])*\]/
QUOTED: /"(?:[^"]|"")*"/
TEXT: /'(?:[^']|'')*'/
PARAMETER: /@[^\W\d]\w*/
FLOAT.4: /(\d+(\.\d*)?|\.\d+)E[+-]?\d+/i
DECIMAL.3: /\d+\.\d*|\.\d+/
INTEGER: /\d+/
COMPARISON: "<>" | "!=" | "<=" | ">=" | "<" | ">"
EQUALS: "="
PLUS: "+"
MINUS: "-"
TIMES: "*" | "/" | "%"
_OPEN: "("
_CLOSE: ")"
_COMMA: ","
_SEMICOLON: ";"
_AND: /AND\b/i
_OR: /OR\b/i
_NOT: /NOT\b/i
_IS: /IS\b/i
_IN: /IN\b/i
_LIKE: /LIKE\b/i
_ESCAPE: /ESCAPE\b/i
_EXISTS: /EXISTS\b/i
TRUE: /TRUE\b/i
FALSE: /FALSE\b/i
NULL: /NULL\b/i
_SET: /SET\b/i
_REMOVE: /REMOVE\b/i
%ignore /\s+/
"""

RESERVED: Final = frozenset(
    ("AND", "OR", "NOT", "IS", "NULL", "IN", "LIKE", "ESCAPE", "EXISTS", "TRUE", "FALSE")
)
"""Words that are no names; the documents do not list them, so these are the grammar's own."""

VALUE: Final = "a value"
_NAME: Final = "the name of a property"
COMPARISON: Final = "a comparison such as =, IS, IN or LIKE"

WORDS: Final = {
    "INTEGER": VALUE,
    "DECIMAL": VALUE,
    "FLOAT": VALUE,
    "TEXT": VALUE,
    "TRUE": VALUE,
    "FALSE": VALUE,
    "PARAMETER": VALUE,
    "NEWID": VALUE,
    "PROPERTY": VALUE,
    "SCOPE": _NAME,
    "NAME": _NAME,
    "DELIMITED": _NAME,
    "QUOTED": _NAME,
    "COMPARISON": COMPARISON,
    "_IS": COMPARISON,
    "_IN": COMPARISON,
    "_LIKE": COMPARISON,
    "_ESCAPE": "ESCAPE",
    "EQUALS": "'='",
    "_OPEN": "'('",
    "_CLOSE": "')'",
    "_COMMA": "','",
    "_SEMICOLON": "';'",
    "_AND": "AND",
    "_OR": "OR",
    "NULL": "NULL",
    "_SET": "SET",
    "_REMOVE": "REMOVE",
    "$END": "the end",
}
"""What a refusal calls the terminals that could stand at a place; others are left out of it."""
