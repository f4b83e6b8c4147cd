-- The facts and comparisons of busproof.pipeline.screening in DuckDB, for tools/benchmarks/spark.py.
-- HISTORY is the path of a history file with one header.
create temp macro hashed(x) as case when x is not null then hash(x) end;
create temp macro fact(kind, matches, k, v, c, e) as
  case when matches then {kind: kind, key: k, value: v::hugeint, cause: c::hugeint, effect: e::hugeint} end;
with numbered as (
  select *,
    row_number() over () as line,
    sum(case when record = 'started' then 1 else 0 end) over (rows unbounded preceding) as history
  from read_json('HISTORY', format = 'newline_delimited', ignore_errors = true, columns = {
    record: 'VARCHAR', connection: 'VARCHAR', command: 'STRUCT(COMMAND)', outcome: 'STRUCT(OUTCOME)',
    witness: 'STRUCT(partition BIGINT)'})
),
messages as (
  select *,
    unnest(coalesce(
      outcome.messages, case when outcome.message is not null then [outcome.message] end,
      command.messages, case when command.message is not null then [command.message] end,
      [null])) as m,
    coalesce(command.topic || '/subscriptions/' || command.subscription, command.queue, command.topic) as place,
    coalesce(command.session_id, outcome.session_id) as held_by
  from numbered
),
events as (
  select history, line, record, command.type as command, outcome.type as outcome,
    coalesce(suffix(place, '/$deadletterqueue'), false) as dead,
    hashed(place) as path, hashed(split_part(place, '/subscriptions/', 1)) as owner,
    hashed(command.transaction) as txn, hash(held_by, coalesce(connection, 'c1')) as holder,
    held_by is not null as held, hashed(coalesce(m.lock_token, command.lock_token)) as lock,
    command.requires_session as needs, command.duplicate_detection as detects,
    command.max_delivery_count as most,
    hashed(m.body) as body, hashed(m.message_id) as message_id, hashed(m.session_id) as session,
    hashed(m.partition_key) as partition_key, m.sequence_number as number,
    coalesce(m.sequence_number >> 48, witness.partition) as part, m.delivery_count as deliveries
  from messages
),
known as (
  select *,
    outcome in ('Received', 'ReceivedSeveral') as received,
    outcome in ('Received', 'ReceivedSeveral') and not dead as living,
    command in ('CreateQueue', 'CreateSubscription', 'CreateTopic', 'RestoreQueue', 'UpdateQueue')
      and outcome = 'Done' as created,
    command in ('AcceptSession', 'AcceptNextSession') and outcome <> 'Refused' as accepted,
    coalesce(session, partition_key) as k, hash(session, partition_key) as content,
    txn is null as alone,
    command in ('Send', 'SendBatch') and outcome = 'Done' as sent,
    command in ('Send', 'SendBatch', 'Schedule') and outcome <> 'Refused' as may_be_sent,
    not dead and not held and command = 'Receive' and outcome in ('Received', 'Empty') as without_session,
    command in ('Complete', 'Abandon', 'DeadLetter', 'Defer') and outcome = 'Done' as settled
  from events
),
facts as (
  select history, line, unnest([
    fact(0, not coalesce(record, '') in ('header', 'started', 'event', 'ended'), hash(line), null, null, null),
    fact(1, sent and session <> partition_key, hash(line, body), null, null, null),
    fact(2, sent and k is not null and path = owner and part is not null, hash(path, k), part, null, null),
    fact(3, (sent or living) and part is not null, hash(owner, body), part, null, null),
    fact(4, living and number is not null, hash(path, body), number, null, null),
    fact(5, living and number is not null, hash(path, number), body, null, null),
    fact(6, may_be_sent or received, hash(body), content,
      case when may_be_sent then line end, case when received then line end),
    fact(7, received or settled, hash(path, coalesce(lock, line)), case when received then hash(path, body) end,
      case when (received and lock is null) or (command = 'Complete' and alone) then line end,
      case when received then line end),
    fact(8, session is not null
        and ((sent and alone) or (living and coalesce(deliveries, 1) = 1 and command = 'Receive')),
      hash(path, body), hash(path, session), case when sent then line end, case when received then line end),
    fact(9, living and message_id is not null, hash(path, message_id), body, owner, line),
    fact(10, created and detects, hash(owner), null, owner, 0),
    fact(11, sent and k is not null and not alone, hash(txn), content, null, null),
    fact(12, (living and deliveries > 1) or (created and most is not null), hash(path), deliveries, most, null),
    fact(13, (created and needs) or (sent and session is null) or without_session, hash(path),
      case when without_session then line end, case when created then line end, case when sent then line end),
    fact(14, held and ((living and command = 'Receive') or accepted), hash(path, holder), null,
      case when accepted then line end, case when received then line end)
  ]) as fact
  from known
),
groups as (
  select history, fact.kind as kind, fact.key as key, min(fact.value) as low, max(fact.value) as high,
    min(fact.cause) as first_cause, max(fact.cause) as last_cause,
    min(fact.effect) as first_effect, max(fact.effect) as last_effect, max(line) as line
  from facts where fact is not null group by all
),
alone as (
  select *, case
    when kind = 0 then 'unreadable'
    when kind in (2, 3, 4, 5, 6, 11) and low <> high then 'values differ, kind ' || kind
    when kind = 1 then 'KEY-08'
    when kind = 6 and first_effect is not null and first_cause is null then 'LIFE-01'
    when kind = 7 and (first_effect is null or first_cause < last_cause) then 'LIFE-06'
    when kind = 7 and first_effect < last_effect then 'LOCK-07'
    when kind = 12 and high > coalesce(last_cause, 10) then 'DLQ-02'
    when kind = 13 and first_cause is not null and first_effect is not null then 'SESS-01'
    when kind = 14 and first_effect is not null and (first_cause is null or first_effect < first_cause)
      then 'SESS-02'
    when kind = 13 and first_cause is not null and low is not null then 'SESS-02'
  end as rule
  from groups
),
compared as (
  select *, min(first_cause) over before as earliest, max(last_cause) over before as latest,
    max(kind = 10) over before as is_detected
  from (
    select *, case when kind = 10 then 9 else kind end as kind_compared,
      case when kind in (9, 10) then first_cause else low end as compared
    from alone
    where rule is not null or (kind = 7 and first_effect is not null)
      or (kind = 8 and first_cause is not null) or (kind = 9 and low <> high) or kind = 10
  )
  window before as (
    partition by history, kind_compared, compared order by first_effect nulls last, first_cause
    rows between unbounded preceding and 1 preceding)
)
select coalesce(rule, case
    when kind = 7 and earliest < first_effect then 'LIFE-03'
    when kind = 7 and latest > first_effect then 'LOCK-07'
    when kind = 8 and latest > first_cause then 'KEY-06'
    when kind = 9 and is_detected then 'KEY-11'
  end) as rule, count(*)
from compared group by all having rule is not null;
