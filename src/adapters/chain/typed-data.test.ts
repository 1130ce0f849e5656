import { randomBytes, randomInt } from 'node:crypto'
import { getAddress, type Hex, hashTypedData } from 'viem'
import { expect, test } from 'vitest'
import { networks } from '../../payments/networks.ts'
import { transferTypes } from './token.ts'
import { authorizationHash } from './typed-data.ts'

const bytes = (count: number): Hex => `0x${randomBytes(count).toString('hex')}`

test.each(Object.values(networks))('what is signed on $name is what viem has signed', (network) => {
  for (let made = 0; made < 50; made += 1) {
    const transfer = {
      from: getAddress(bytes(20)),
      to: bytes(20),
      amount: BigInt(bytes(randomInt(1, 33))),
      validAfter: randomInt(2 ** 40),
      validBefore: randomInt(2 ** 40),
      nonce: bytes(32),
    }
    const { from, to, amount, validAfter, validBefore, nonce } = transfer
    const { chainId, usdc, usdcDomain } = network
    const signed = hashTypedData({
      domain: { ...usdcDomain, chainId, verifyingContract: usdc },
      types: transferTypes,
      primaryType: 'TransferWithAuthorization',
      message: {
        ...{ from, to, value: amount, nonce },
        ...{ validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) },
      },
    })
    expect(authorizationHash(network, transfer)).toBe(signed)
  }
})
