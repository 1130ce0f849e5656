-- Less room for what stays of archived orders, and for what writes leave behind.

-- What chain and supplier are compared with, and nothing else: there is one for every order, for ever.
create or replace function archived_doc(doc jsonb) returns jsonb language sql immutable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'paymentId', doc -> 'paymentId', 'state', doc -> 'state', 'settlement', doc -> 'settlement',
    'kind', doc #> '{item,kind}', 'placedAt', doc -> 'placedAt', 'deliveredAt', doc -> 'deliveredAt',
    'network', doc #> '{tender,network}', 'asset', doc #> '{tender,asset}', 'payTo', doc #> '{tender,payTo}',
    'nonce', doc #> '{tender,nonce}', 'block', doc #> '{receipt,block}',
    'transaction', doc #> '{receipt,transaction}', 'refund', doc -> 'refund', 'supply', doc -> 'supply',
    'trigger', doc #> '{failure,trigger}', 'code', doc -> 'code'))
$$;

-- An order again, with what is gone left empty.
create function order_doc(archived archived_orders) returns jsonb language sql immutable as $$
  select jsonb_build_object(
      'id', archived.id, 'paymentId', kept -> 'paymentId', 'state', kept -> 'state', 'amount', atomic,
      'fingerprint', '', 'accessTokenHash', '', 'placedAt', placed, 'changedAt', placed,
      'item', jsonb_build_object('kind', kept -> 'kind', 'offerId', '', 'brandName', ''),
      'tender', jsonb_build_object('rail', 'x402', 'network', kept -> 'network', 'asset', kept -> 'asset',
        'payTo', kept -> 'payTo', 'payer', archived.payer, 'amount', atomic, 'nonce', kept -> 'nonce',
        'validAfter', 0, 'validBefore', 0, 'signature', '0x', 'sinceBlock', coalesce(kept -> 'block', '0')))
    || case when kept ? 'transaction' then jsonb_build_object(
      'receipt', jsonb_build_object('rail', 'x402', 'transaction', kept -> 'transaction', 'block', kept -> 'block'),
      'settlement', kept -> 'settlement', 'paidAt', placed, 'deliverBy', placed) else '{}' end
    || case kept ->> 'state'
      when 'FULFILLED' then jsonb_build_object('deliveredAt', kept -> 'deliveredAt')
      when 'PAYMENT_FAILED' then jsonb_build_object('code', kept -> 'code', 'reason', '')
      else jsonb_build_object('refund', kept -> 'refund', 'supply', kept -> 'supply',
        'failure', jsonb_build_object('trigger', kept -> 'trigger', 'message', '')) end
  from (select archived.doc as kept, archived.doc -> 'placedAt' as placed,
    jsonb_build_object('$bigint', archived.amount::text) as atomic) as parts
$$;

create or replace view all_orders as
  select id, version, recipient, delivery, doc, write_id from orders
  union all
  select archived.id, 1, null, null, order_doc(archived), null from archived_orders archived;

-- An order is written four times, and never in place, since every move changes an index: each write leaves a
-- dead row of some 2 kB. By default a fifth of the table has to be dead before it is vacuumed. Sooner, the room
-- of dead rows is used again, and the indexes of open orders, which every look reads, stay small
-- (docs/scaling.md has the measurement).
alter table orders set (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01);
alter table checkouts set (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01);
