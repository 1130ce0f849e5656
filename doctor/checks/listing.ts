import type { PaymentRequired } from '@x402/core/types'
import {
  type DiscoveryExtension,
  isValidIconUrl,
  isValidServiceName,
  sanitizeTags,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from '@x402/extensions/bazaar'
import { isRecord, recordAt } from '../ask.ts'
import { demandOf, named } from '../demand.ts'
import type { Visit } from '../findings.ts'
import type { Paid } from '../operations.ts'

/** In code points, not bytes. */
const maxDescription = 499

/** Checks the requirements of resource indexes (Bazaar, x402scan) for a 402. */
export function checkListing(visit: Visit, paid: Paid, demand: PaymentRequired): void {
  const at = named(paid)
  checkResource(visit, paid, demand)
  const { description } = demand.resource
  const length = [...(description ?? '')].length
  if (length > maxDescription) visit.note('description_long', at, `${length} characters`)
  checkMetadata(visit, at, demand)
  checkBazaar(visit, at, demand)
}

function checkResource({ note, publicOrigin }: Visit, paid: Paid, demand: PaymentRequired): void {
  const { url: told } = demand.resource
  const url = URL.parse(told)
  const published = new URL(publicOrigin + paid.path)
  const isInsecure = url?.protocol === 'http:' && published.protocol === 'https:'
  if (isInsecure && url.host === published.host) note('resource_insecure', named(paid), told)
  else if (url?.origin !== published.origin || url.pathname !== published.pathname) {
    note('resource_other', named(paid), `${told} instead of ${published.href}`)
  }
}

function checkMetadata({ note }: Visit, at: string, { resource }: PaymentRequired): void {
  const { serviceName, tags, iconUrl } = resource
  const kept = tags === undefined ? 0 : (sanitizeTags(tags)?.length ?? 0)
  const wrong = {
    serviceName: serviceName !== undefined && !isValidServiceName(serviceName),
    tags: tags !== undefined && kept !== tags.length,
    iconUrl: iconUrl !== undefined && !isValidIconUrl(iconUrl),
  }
  for (const [name, isWrong] of Object.entries(wrong)) {
    if (isWrong) note('metadata_wrong', at, name)
  }
}

function checkBazaar({ note }: Visit, at: string, { extensions }: PaymentRequired): void {
  const bazaar = extensions?.['bazaar']
  if (!isRecord(bazaar)) {
    note('bazaar_missing', at)
    return
  }
  const { type, method } = recordAt(bazaar, 'info', 'input')
  if (typeof type !== 'string' || typeof method !== 'string') note('bazaar_input', at)
  const declared = bazaar as unknown as DiscoveryExtension & Record<string, unknown>
  for (const validate of [validateDiscoveryExtensionSpec, validateDiscoveryExtension]) {
    const { errors } = validate(declared)
    if (errors !== undefined && errors.length > 0) note('bazaar_invalid', at, errors.join('; '))
  }
}

/**
 * Sends forwarding headers that name another host. If the 402 then has that host in its address, anyone can
 * put an address into it, and a cache may keep it.
 */
export async function checkForwarding(visit: Visit, paid: Paid): Promise<void> {
  const other = 'forwarded.doctor.example'
  const answer = await visit.ask(paid.path, {
    method: paid.method,
    headers: { 'x-forwarded-host': other, forwarded: `host=${other}` },
  })
  const told = demandOf(answer)?.resource.url ?? ''
  if (told.includes(other)) visit.note('forwarded_trusted', named(paid), told)
}
