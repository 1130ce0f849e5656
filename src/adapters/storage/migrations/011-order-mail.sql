-- The address that somebody left with an order, as a keyed digest: enough to know it again when it is
-- typed again, and nothing to read. It is forgotten with the personal fields of the order.
create table order_mail (
  order_id text primary key references orders (id) on delete cascade,
  address_digest text not null,
  left_at timestamptz not null
);

create index order_mail_address on order_mail (address_digest);
