#!/usr/bin/python3
"""Buys one gift voucher and prints its code: search, quote, pay, wait.

    PRIVATE_KEY=0x... python3 examples/buy.py "netflix" [offerId]

Needs Python 3.11 with requests, ecdsa and pycryptodomex (on Debian: python3-requests python3-ecdsa
python3-pycryptodome), and a wallet with USDC on the store's network. With eth-account,
Account.sign_typed_data replaces everything below "Signing".

    PRIVATE_KEY    key of the paying wallet; it needs no ETH
    STORE_URL      address of the store; default http://localhost:8402
    MAX_USD        highest price to pay; default 1
    PURCHASE_KEY   idempotency key of this purchase; by default a new one, which is printed. Set it to repeat
                   an interrupted run: the store never charges twice for the same key.
"""

import base64
import json
import os
import secrets
import sys
import time
import uuid
from decimal import Decimal

import requests
from Cryptodome.Hash import keccak
from ecdsa import SECP256k1, SigningKey, VerifyingKey
from ecdsa.util import sigencode_string_canonize

STORE = os.environ.get("STORE_URL", "http://localhost:8402")
MOST = os.environ.get("MAX_USD", "1")
PURCHASE_KEY = os.environ.get("PURCHASE_KEY") or str(uuid.uuid4())
PURCHASE_URL = f"{STORE}/api/catalog/vouchers/purchase/info"
RECIPIENT = {"firstName": "Ada", "lastName": "Lovelace"}


def main():
    words = sys.argv[1] if len(sys.argv) > 1 else "sandbox test"
    wanted = sys.argv[2] if len(sys.argv) > 2 else None

    # 1. Search. Free, and open to anyone.
    found = read(requests.get(f"{STORE}/ai/vouchers", {"search": words, "limit": 50}, timeout=30))
    fits = (o for o in found["items"] if (o["offerId"] == wanted if wanted else "fixed" in o["price"]))
    offer = next(fits, None) or stop(f'Nothing to buy was found for "{words}".')

    # 2. Quote. Free too; it makes all checks of the purchase.
    purchase = {"offerId": offer["offerId"], **RECIPIENT}
    quote = read(requests.get(PURCHASE_URL, purchase, timeout=30))
    print(f"{offer['brandName']}, {offer['offerId']}: {quote['display']}")

    # 3. Buy. 4. Wait: 200 has the goods; 202 means that the purchase is paid and the goods are on their way.
    print(f"PURCHASE_KEY={PURCHASE_KEY}", flush=True)
    order = read(buy(purchase))
    token = order.get("accessToken")
    while order["orders"][0]["state"] in ("PAYMENT_PENDING", "PAID", "FULFILLING"):
        answer = requests.get(
            f"{STORE}/api/catalog/orders/{order['orderId']}",
            headers={"authorization": f"Bearer {token}"},
            timeout=30,
        )
        order = read(answer)
        time.sleep(int(answer.headers.get("retry-after", 0)))

    item = order["orders"][0]
    print(f"{order['orderId']} is {item['state']}")
    if item["state"] != "FULFILLED":
        # Do nothing: the store refunds the paying wallet by itself.
        why = item["error"]["message"] if item["error"] else "There are no goods."
        stop(f"{why} Refund: {order['refund_state']}.")
    print(json.dumps(item["result"], indent=2))


def buy(purchase):
    """Sends the purchase until it is answered. With the same key, every repetition is the same purchase."""
    headers = {"idempotency-key": PURCHASE_KEY}
    for attempt in (1, 2, 3, 4):
        pause = attempt
        try:
            answer = requests.post(PURCHASE_URL, json=purchase, headers=headers, timeout=60)
            # A second 402 means that the payment was refused, for instance because the wallet is empty.
            if answer.status_code == 402 and "payment-signature" not in headers:
                headers["payment-signature"] = payment_for(answer.headers["payment-required"])
                answer = requests.post(PURCHASE_URL, json=purchase, headers=headers, timeout=60)
            if answer.status_code < 500 and answer.status_code != 429:
                return answer
            pause = int(answer.headers.get("retry-after", pause))
        except requests.RequestException as failure:
            # The answer was lost, perhaps after the payment. The same payment is sent again.
            if attempt == 4:
                stop(f"The store does not answer: {failure}")
        if attempt < 4:
            time.sleep(pause)
    return answer


def read(answer):
    """The JSON of an answer. An error answer ends the program with the reason and whether money moved."""
    is_json = "json" in answer.headers.get("content-type", "")
    body = answer.json() if is_json else {}
    if answer.ok:
        return body
    why = body.get("detail") or body.get("error") or answer.reason
    return stop(f"{answer.status_code}: {why} (charged: {body.get('charged', 'not stated')})")


def stop(why):
    sys.exit(why)


# Signing: an EIP-3009 transfer authorization, as EIP-712 typed data.

DOMAIN = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
TRANSFER = (
    "TransferWithAuthorization(address from,address to,uint256 value,"
    "uint256 validAfter,uint256 validBefore,bytes32 nonce)"
)


def payment_for(required):
    """The PAYMENT-SIGNATURE for a PAYMENT-REQUIRED, up to MAX_USD."""
    terms = json.loads(base64.b64decode(required))["accepts"][0]
    if int(terms["amount"]) > Decimal(MOST) * 1_000_000:
        stop(f"That is more than MAX_USD, {MOST}.")
    wallet = SigningKey.from_string(private_key(), curve=SECP256k1)
    authorization = {
        "from": address_of(wallet.verifying_key),
        "to": terms["payTo"],
        "value": terms["amount"],
        "validAfter": "0",
        "validBefore": str(int(time.time()) + terms["maxTimeoutSeconds"]),
        "nonce": "0x" + secrets.token_hex(32),
    }
    chain_id = int(terms["network"].split(":")[1])
    domain = hash_of(
        hash_of(DOMAIN.encode()),
        hash_of(terms["extra"]["name"].encode()),
        hash_of(terms["extra"]["version"].encode()),
        word(chain_id),
        word(int(terms["asset"], 16)),
    )
    values = (int(value, 16 if value.startswith("0x") else 10) for value in authorization.values())
    message = hash_of(hash_of(TRANSFER.encode()), *map(word, values))
    payload = {
        "x402Version": 2,
        "accepted": terms,
        "payload": {
            "signature": sign(wallet, hash_of(b"\x19\x01", domain, message)),
            "authorization": authorization,
        },
    }
    return base64.b64encode(json.dumps(payload).encode()).decode()


def sign(wallet, digest):
    """r, s and v, with the lower s that contracts require."""
    signature = wallet.sign_digest_deterministic(digest, sigencode=sigencode_string_canonize)
    recovered = VerifyingKey.from_public_key_recovery_with_digest(signature, digest, SECP256k1)
    v = 27 + [key.to_string() for key in recovered].index(wallet.verifying_key.to_string())
    return "0x" + signature.hex() + format(v, "02x")


def address_of(key):
    return "0x" + hash_of(key.to_string())[-20:].hex()


def hash_of(*parts):
    return keccak.new(digest_bits=256, data=b"".join(parts)).digest()


def word(number):
    return number.to_bytes(32, "big")


def private_key():
    text = os.environ.get("PRIVATE_KEY", "")
    try:
        key = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        key = b""
    return key if len(key) == 32 else stop("PRIVATE_KEY must be 0x and 64 hexadecimal digits.")


if __name__ == "__main__":
    main()
