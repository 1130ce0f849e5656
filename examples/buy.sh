#!/usr/bin/env bash
# Buys one gift voucher with curl and prints its code: search, quote, pay, wait.
#
#   PRIVATE_KEY=0x… examples/buy.sh "netflix" [offerId]
#
# Needs curl, Node with `npm install viem` for JSON and the signature, and a wallet with USDC on the store's
# network.
#
#   PRIVATE_KEY    key of the paying wallet; it needs no ETH
#   STORE_URL      address of the store; default http://localhost:8402
#   MAX_USD        highest price to pay; default 1
#   PURCHASE_KEY   idempotency key of this purchase; by default a new one, which is printed. Set it to repeat
#                  an interrupted run: the store never charges twice for the same key.
set -euo pipefail

store=${STORE_URL:-http://localhost:8402}
export MAX_USD=${MAX_USD:-1} PRIVATE_KEY=${PRIVATE_KEY:-}
key=${PURCHASE_KEY:-$(node -p 'crypto.randomUUID()')}
words=${1:-sandbox test} wanted=${2:-}
url=$store/api/catalog/vouchers/purchase/info
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Evaluates an expression on the JSON of the last answer ($); prints nothing for null.
json() { node -p "const $ = JSON.parse(fs.readFileSync('$tmp/body', 'utf8')); ($1) ?? ''" "${@:2}"; }
stop() { echo "$1" >&2; exit 1; }

# Sends a request, stores headers and body, and sets $status; 000 if no answer came.
ask() { status=$(curl -sS --max-time 60 -D "$tmp/headers" -o "$tmp/body" -w '%{http_code}' "$@") || true; }
header() { sed -n "s/^$1: \(.*\)\r$/\1/Ip" "$tmp/headers"; }

# Stops at an error answer, which says what is wrong and whether money moved.
expect_ok() {
  case $status in
    2*) ;;
    000) stop 'The store does not answer.' ;;
    *) stop "$status: $(json '`${$.detail ?? $.error} (charged: ${$.charged ?? "not stated"})`' 2>/dev/null)" ;;
  esac
}

# 1. Search. Free, and open to anyone.
ask -G "$store/ai/vouchers" --data-urlencode "search=$words" -d limit=50
expect_ok
offer=$(json '$.items.find((o) => process.argv[1] ? o.offerId === process.argv[1] : o.price.fixed)?.offerId' "$wanted")
[ -n "$offer" ] || stop "Nothing to buy was found for \"$words\"."

# 2. Quote. Free too; it makes all checks of the purchase.
ask -G "$url" -d "offerId=$offer" -d firstName=Ada -d lastName=Lovelace
expect_ok
echo "$offer: $(json '$.display')"
echo "PURCHASE_KEY=$key"

# 3. Buy. The 402 says what to sign; send the same request again with the signature. After a lost answer,
# repeat it with the same key and payment: it is the same purchase.
purchase=(-X POST "$url" -H 'content-type: application/json' -H "idempotency-key: $key"
  -d "{\"offerId\":\"$offer\",\"firstName\":\"Ada\",\"lastName\":\"Lovelace\"}")
ask "${purchase[@]}"
if [ "$status" = 402 ]; then
  payment=$(header payment-required | node --input-type=module -e '
    import { readFileSync } from "node:fs"
    import { toHex } from "viem"
    import { privateKeyToAccount } from "viem/accounts"
    const { PRIVATE_KEY, MAX_USD } = process.env
    if (!/^0x[0-9a-f]{64}$/i.test(PRIVATE_KEY)) throw "PRIVATE_KEY must be 0x and 64 hexadecimal digits."
    const [accepted] = JSON.parse(Buffer.from(readFileSync(0, "utf8"), "base64")).accepts
    const { network, asset, amount, payTo, maxTimeoutSeconds, extra } = accepted
    if (Number(amount) > MAX_USD * 1e6) throw `That is more than MAX_USD, ${MAX_USD}.`
    const account = privateKeyToAccount(PRIVATE_KEY)
    const authorization = {
      from: account.address, to: payTo, value: amount, validAfter: "0",
      validBefore: String(Math.floor(Date.now() / 1000) + maxTimeoutSeconds),
      nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
    }
    const fields = "address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce"
    const signature = await account.signTypedData({
      domain: { name: extra.name, version: extra.version, chainId: Number(network.split(":")[1]), verifyingContract: asset },
      types: { TransferWithAuthorization: fields.split(",").map((f) => ({ type: f.split(" ")[0], name: f.split(" ")[1] })) },
      primaryType: "TransferWithAuthorization",
      message: authorization,
    })
    console.log(Buffer.from(JSON.stringify({ x402Version: 2, accepted, payload: { signature, authorization } })).toString("base64"))
  ') || exit 1
  for pause in 1 2 3 0; do
    ask "${purchase[@]}" -H "payment-signature: $payment"
    case $status in 000 | 429 | 5*) ;; *) break ;; esac
    [ "$pause" = 0 ] && break
    asked=$(header retry-after)
    sleep "${asked:-$pause}"
  done
fi
expect_ok # A second 402: the payment was refused, for instance because the wallet is empty.

# 4. Wait. 200 has the goods; 202 means that the purchase is paid and the goods are on their way.
order=$(json '$.orderId') token=$(json '$.accessToken')
while [[ $(json '$.orders[0].state') =~ ^(PAYMENT_PENDING|PAID|FULFILLING)$ ]]; do
  ask "$store/api/catalog/orders/$order" -H "authorization: Bearer $token"
  expect_ok
  pause=$(header retry-after)
  sleep "${pause:-0}"
done
echo "$order is $(json '$.orders[0].state')"
# If the goods did not come, do nothing: the store refunds the paying wallet by itself.
[ "$(json '$.orders[0].state')" = FULFILLED ] ||
  stop "$(json '$.orders[0].error?.message') Refund: $(json '$.refund_state')."
json 'JSON.stringify($.orders[0].result, null, 2)'
