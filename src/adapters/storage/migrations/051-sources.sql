-- An order has on record where it is bought: at which supplier, and as which of its products. What names no
-- supplier was written before, when there was one: zendit. By its name the guard runs after guard_order.
create function guard_order_source() returns trigger language plpgsql as $$
begin
  raise exception 'order %: where it is bought never changes', old.id;
end
$$;

create trigger guard_order_source before update on orders for each row
  when (old.doc #> '{item,source}' is not null and new.doc ? 'item'
    and new.doc #> '{item,source}' is distinct from old.doc #> '{item,source}')
  execute function guard_order_source();

-- What is archived keeps its supplier, where it is another than the first.
create or replace function archived_doc(doc jsonb) returns jsonb language sql immutable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'paymentId', doc -> 'paymentId', 'state', doc -> 'state', 'settlement', doc -> 'settlement',
    'kind', doc #> '{item,kind}', 'placedAt', doc -> 'placedAt', 'deliveredAt', doc -> 'deliveredAt',
    'network', doc #> '{tender,network}', 'asset', doc #> '{tender,asset}', 'payTo', doc #> '{tender,payTo}',
    'nonce', doc #> '{tender,nonce}', 'block', doc #> '{receipt,block}',
    'transaction', doc #> '{receipt,transaction}', 'refund', doc -> 'refund', 'supply', doc -> 'supply',
    'trigger', doc #> '{failure,trigger}', 'code', doc -> 'code',
    'supplier', nullif(doc #>> '{item,source,supplier}', 'zendit')))
    || case when doc #>> '{tender,rail}' = 'x402' then '{}' else jsonb_build_object(
      'rail', doc #> '{tender,rail}', 'invoice', doc #> '{tender,invoice}', 'units', doc #> '{tender,units}',
      'payer', doc #> '{tender,payer}') end
$$;

create or replace function order_doc(archived archived_orders) returns jsonb language sql immutable as $$
  select jsonb_build_object(
      'id', archived.id, 'paymentId', kept -> 'paymentId', 'state', kept -> 'state', 'amount', atomic,
      'fingerprint', '', 'accessTokenHash', '', 'placedAt', placed, 'changedAt', placed,
      'item', jsonb_build_object('kind', kept -> 'kind', 'offerId', '', 'brandName', '')
        || case when kept ? 'supplier' then jsonb_build_object(
          'source', jsonb_build_object('supplier', kept -> 'supplier', 'product', '')) else '{}' end,
      'tender', jsonb_build_object('rail', rail, 'network', kept -> 'network', 'asset', kept -> 'asset',
        'payTo', kept -> 'payTo', 'payer', coalesce(kept -> 'payer', to_jsonb(archived.payer)), 'amount', atomic,
        'nonce', kept -> 'nonce')
        || case rail when 'x402' then jsonb_build_object('validAfter', 0, 'validBefore', 0, 'signature', '0x',
          'sinceBlock', coalesce(kept -> 'block', '0'))
        else jsonb_build_object('invoice', kept -> 'invoice', 'units', kept -> 'units') end)
    || case when kept ? 'transaction' then jsonb_build_object(
      'receipt', jsonb_build_object('rail', rail, 'transaction', kept -> 'transaction')
        || case rail when 'x402' then jsonb_build_object('block', kept -> 'block') else '{}' end,
      'settlement', kept -> 'settlement', 'paidAt', placed, 'deliverBy', placed) else '{}' end
    || case kept ->> 'state'
      when 'FULFILLED' then jsonb_build_object('deliveredAt', kept -> 'deliveredAt')
      when 'PAYMENT_FAILED' then jsonb_build_object('code', kept -> 'code', 'reason', '')
      else jsonb_build_object('refund', kept -> 'refund', 'supply', kept -> 'supply',
        'failure', jsonb_build_object('trigger', kept -> 'trigger', 'message', '')) end
  from (select archived.doc as kept, archived.doc -> 'placedAt' as placed,
    coalesce(archived.doc ->> 'rail', 'x402') as rail,
    jsonb_build_object('$bigint', archived.amount::text) as atomic) as parts
$$;
