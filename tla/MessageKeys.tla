------------------------------- MODULE MessageKeys -------------------------------
(* Which property of a message is its partition key. A key is a pair of the property *)
(* and its value; the reading KEY-PROPERTIES decides whether the property matters,   *)
(* and EMPTY-KEY whether an empty text counts as set.                                *)
EXTENDS Vocabulary

CONSTANTS
  DuplicateDetection,  \* is it on?
  EmptyCounts,         \* does an empty text count as set?
  KeysAreOne           \* is a SessionId "a" the same key as a PartitionKey "a"?

NoKey == <<None, None>>

IsSet(value) == value # None /\ (value = "" => EmptyCounts)

(* KEY-04, KEY-07, KEY-10, KEY-12, KEY-24 *)
KeyOf(m) ==
  IF IsSet(m.session_id) THEN <<"session_id", m.session_id>>
  ELSE IF IsSet(m.partition_key) THEN <<"partition_key", m.partition_key>>
  ELSE IF DuplicateDetection /\ IsSet(m.message_id) THEN <<"message_id", m.message_id>>
  ELSE NoKey

SameKey(one, other) == IF KeysAreOne THEN one[2] = other[2] ELSE one = other

(* KEY-08, KEY-09 *)
KeysDiffer(m) ==
  IsSet(m.session_id) /\ IsSet(m.partition_key) /\ m.session_id # m.partition_key
==================================================================================
