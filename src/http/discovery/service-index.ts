import type { ReadDeps } from '../deps.ts'
import { type Question, wholeQuestion } from '../question.ts'
import { paths } from './paths.ts'

/** `GET /ai`: where everything is. */
export function serviceIndex(url: string, { site }: ReadDeps): Question {
  return wholeQuestion(url, () => ({
    name: site.name,
    description: site.description,
    accepts_crypto: site.acceptsCrypto,
    delivery: 'instant',
    website: site.url,
    catalogs: { vouchers: paths.vouchers, topups: paths.topups, esims: paths.esims },
    capabilities: paths.capabilities,
  }))
}
