import { type Address, concatHex, type Hex, numberToHex, size } from 'viem'
import {
  generatePrivateKey,
  type LocalAccount,
  type PrivateKeyAccount,
  privateKeyToAccount,
  toAccount,
} from 'viem/accounts'
import { anybody, type ChainParts } from '../chain.ts'

/** The EVM instructions that the contracts of the stories are made of. */
const op = {
  eq: '0x14',
  greater: '0x11',
  caller: '0x33',
  isZero: '0x15',
  gasPrice: '0x3a',
  dup1: '0x80',
  swap1: '0x90',
  sub: '0x03',
  jump: '0x56',
  jumpIf: '0x57',
  jumpDest: '0x5b',
  shl: '0x1b',
  byte: '0x1a',
  mul: '0x02',
  address: '0x30',
  callDataLoad: '0x35',
  codeCopy: '0x39',
  pop: '0x50',
  mLoad: '0x51',
  mStore: '0x52',
  gas: '0x5a',
  push0: '0x5f',
  staticCall: '0xfa',
  return: '0xf3',
} as const satisfies Record<string, Hex>

/** Puts a constant of up to 32 bytes on the stack. */
function push(value: Hex): Hex {
  return concatHex([numberToHex(0x5f + size(value)), value])
}

/** What `isValidSignature` of ERC-1271 says of a signature that it accepts. */
const magic = '0x1626ba7e'
const ecrecover = '0x01'

/**
 * A wallet whose only function is `isValidSignature(bytes32 hash, bytes signature)`: it accepts the
 * 65-byte signatures of its owner. It looks at no selector, because nobody calls anything else.
 *
 * @param owner `self` for code that an ordinary wallet delegates to (EIP-7702): there, the key
 *   that signs is the one of the wallet's own address
 */
export function walletCode(owner: Address | 'self'): Hex {
  return concatHex([
    // memory[0x00..0x80] = hash, v, r, s; the call has them at 0x04, 0xa4 (one byte), 0x64, 0x84.
    ...[push('0x04'), op.callDataLoad, op.push0, op.mStore],
    ...[push('0xa4'), op.callDataLoad, op.push0, op.byte, push('0x20'), op.mStore],
    ...[push('0x64'), op.callDataLoad, push('0x40'), op.mStore],
    ...[push('0x84'), op.callDataLoad, push('0x60'), op.mStore],
    // memory[0x80..0xa0] = the signer, by the precompiled ecrecover. It writes nothing for a signature
    // that cannot be read, so its answer goes where there was nothing: zero is nobody's address.
    ...[push('0x20'), push('0x80'), push('0x80'), op.push0, push(ecrecover), op.gas],
    ...[op.staticCall, op.pop],
    // memory[0x00..0x20] = the magic word when the signer is the owner, and zero when not.
    ...[push('0x80'), op.mLoad, owner === 'self' ? op.address : push(owner), op.eq],
    ...[push(magic), push('0xe0'), op.shl, op.mul, op.push0, op.mStore],
    ...[push('0x20'), op.push0, op.return],
  ])
}

/** A wallet that says yes only where this leaves a one on the stack, and otherwise no. */
function agreeingWhere(condition: readonly Hex[], owner: Address): Hex {
  const answerZero = concatHex([push('0x20'), op.push0, op.return])
  const asked = concatHex(condition)
  const start = numberToHex(size(asked) + 3 + size(answerZero), { size: 1 })
  const head = concatHex([asked, push(start), op.jumpIf, answerZero])
  return concatHex([head, op.jumpDest, walletCode(owner)])
}

/**
 * A wallet that says yes as long as nobody pays for gas, as in simulations and estimates, and no
 * in every block.
 */
export function treacherousCode(owner: Address): Hex {
  return agreeingWhere([op.gasPrice, op.isZero], owner)
}

/** A wallet that says yes only to who gives it more than so much gas. */
export function hungryCode(owner: Address, gas: number): Hex {
  return agreeingWhere([push(numberToHex(gas, { size: 3 })), op.gas, op.greater], owner)
}

/** A wallet that says yes to this caller alone, or to everybody else. */
export function partialCode(owner: Address, caller: Address, isAlone: boolean): Hex {
  const isCaller = [push(caller), op.caller, op.eq]
  return agreeingWhere(isAlone ? isCaller : [...isCaller, op.isZero], owner)
}

/** A wallet whose signature check first burns so much gas, which whoever settles has to pay. */
export function burningCode(owner: Address, gas: number): Hex {
  return concatHex([burning(gas), walletCode(owner)])
}

/** Code that burns so much gas and goes on behind itself. */
export function burning(gas: number): Hex {
  const gasPerRound = 26
  const rounds = numberToHex(Math.ceil(gas / gasPerRound), { size: 3 })
  const round = [push('0x01'), op.swap1, op.sub, op.dup1, push('0x04'), op.jumpIf]
  return concatHex([push(rounds), op.jumpDest, ...round, op.pop])
}

/** Code that goes on behind itself as long as nobody pays for gas, and in every block burns all there is. */
export const burningAllInBlocks = concatHex([
  ...[op.gasPrice, op.isZero, push('0x09'), op.jumpIf],
  ...[op.jumpDest, push('0x05'), op.jump, op.jumpDest],
])

/** A wallet that is cheap as long as nobody pays for gas, and in every block burns all there is. */
export function greedyCode(owner: Address): Hex {
  return concatHex([burningAllInBlocks, walletCode(owner)])
}

/** Code that, when it is deployed, leaves this code on the chain, once it has run what is before. */
export function deploying(code: Hex, before: Hex = '0x'): Hex {
  const length = push(numberToHex(size(code), { size: 2 }))
  const head = (start: Hex) =>
    concatHex([before, length, push(start), op.push0, op.codeCopy, length, op.push0, op.return])
  return concatHex([head(numberToHex(size(head('0x00')), { size: 1 })), code])
}

/** Puts a contract on the chain, as anybody can. */
export async function deploy(parts: ChainParts, code: Hex): Promise<Address> {
  const { client, account } = await anybody(parts, generatePrivateKey())
  const hash = await client.sendTransaction({ account, data: deploying(code) })
  const { contractAddress } = await client.waitForTransactionReceipt({ hash })
  if (!contractAddress) throw new Error('The contract was not deployed.')
  return contractAddress
}

/** A smart wallet on the chain, which signs with the key of its owner. */
export async function smartWallet(
  parts: ChainParts,
  owner: PrivateKeyAccount = privateKeyToAccount(generatePrivateKey()),
): Promise<LocalAccount> {
  return signingFor(await deploy(parts, walletCode(owner.address)), owner)
}

/** The account of a contract at this address, for which somebody else's key signs. */
export function signingFor(
  address: Address,
  { sign: _, ...owner }: PrivateKeyAccount,
  changed: (signature: Hex) => Hex = (signature) => signature,
): LocalAccount {
  return toAccount({
    address,
    signMessage: owner.signMessage,
    signTransaction: owner.signTransaction as never,
    signTypedData: async (typed) => changed(await owner.signTypedData(typed as never)),
  })
}
