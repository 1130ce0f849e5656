import type { Database } from '../adapters/storage/database.ts'
import { eraseFields, eraseFromDenylist, ordersOfPerson } from '../adapters/storage/persons.ts'
import { erasedParty, personDigest } from '../orders/denylist.ts'
import { createDigest } from '../secrets/secrets.ts'
import { audited } from './audit.ts'
import { digestsOf, personsMeantBy } from './finding.ts'
import { type Operator, Refused } from './operator.ts'

/** All spellings of one person that `identityOf` tells apart. @throws Refused for nobody, or perhaps several */
function identitiesOf(text: string): readonly [string, ...string[]] {
  const [identity, ...others] = personsMeantBy(text)
  if (identity === undefined) {
    throw new Refused('Name a person by an e-mail address, a phone number or an ICCID.')
  }
  if (others.length > 0 && !identity.includes('@')) {
    throw new Refused('This may be the number of several people: write it with + and its country.')
  }
  return [identity, ...others]
}

/**
 * Erases e-mail addresses, phone numbers and names from all of a person's orders. What was bought and paid stays, and the
 * denylist knows the person by a keyed digest.
 *
 * @returns `later`: orders that the store still works on; erase the person again once they have ended
 * @throws Refused also for a person whom the store does not know
 */
export async function erasePerson(operator: Operator, text: string, reason: string) {
  const identities = identitiesOf(text)
  const { secretsKeys } = operator.config
  const digests = identities.flatMap((one) => digestsOf(secretsKeys, one))
  const orders = await ordersOfPerson(operator.database, digests)
  const digest = personDigest(createDigest(secretsKeys, 'orders'), identities[0])
  const ended = orders.filter(({ hasEnded }) => hasEnded).map(({ order }) => order)
  const later = orders.filter(({ hasEnded }) => !hasEnded).map(({ order }) => order)
  const entry = { act: 'person erase', subject: `person:${digest}`, reason }
  const erase = async (client: Database) => {
    const erased = await eraseFields(client, ended)
    const denylistEntries = await eraseFromDenylist(client, identities, erasedParty(digest))
    if (orders.length === 0 && denylistEntries === 0) {
      throw new Refused('The store has nothing of this person.')
    }
    return { ...erased, denylistEntries, later }
  }
  return audited(operator, (after) => ({ ...entry, after }), erase)
}
