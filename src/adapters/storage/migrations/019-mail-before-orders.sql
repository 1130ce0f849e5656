-- An address may be left with the form that begins a checkout, whose order is numbered but not there
-- yet. What belongs to no order in the end is forgotten by its age.
alter table order_mail drop constraint order_mail_order_id_fkey;
