-- Rows of these tables are forgotten one by one, when their time is over. Emptied by a hand on the console they would
-- let a sign-in be used twice, a payment come with another request, an approval or a buyer's event be lost, or a store
-- of another mode take the database.
create trigger keep_used_nonces before truncate on used_nonces
  for each statement execute function refuse_change();
create trigger keep_payment_reservations before truncate on payment_reservations
  for each statement execute function refuse_change();
create trigger keep_approvals before truncate on approvals
  for each statement execute function refuse_change();
create trigger keep_order_webhooks before truncate on order_webhooks
  for each statement execute function refuse_change();
create trigger keep_webhook_events before truncate on webhook_events
  for each statement execute function refuse_change();
create trigger keep_order_mail before truncate on order_mail
  for each statement execute function refuse_change();
create trigger keep_store_identity before truncate on store_identity
  for each statement execute function refuse_change();
