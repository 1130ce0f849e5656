import * as z from 'zod'
import { type SupplierName, supplierNames, suppliers } from '../suppliers/suppliers.ts'
import { atLeast16, matching, url, variable } from './variable.ts'

type Field = 'URL' | 'KEY' | 'WEBHOOK_HEADER' | 'WEBHOOK_SECRET'
type Prefix = (typeof suppliers)[SupplierName]['variables']

const fields: readonly Field[] = ['URL', 'KEY', 'WEBHOOK_HEADER', 'WEBHOOK_SECRET']

export function variablesOf(name: SupplierName): readonly string[] {
  return fields.map((field) => `${suppliers[name].variables}_${field}`)
}

function perSupplier<T extends Readonly<Record<Field, unknown>>>(
  of: (name: SupplierName) => T,
): { readonly [F in Field as `${Prefix}_${F}`]: T[F] } {
  const entries = supplierNames.flatMap((name) => {
    const made = of(name)
    return fields.map((field) => [`${suppliers[name].variables}_${field}`, made[field]])
  })
  return Object.fromEntries(entries)
}

const apiUrl = () => url(/^https?$/)
const apiKey = () => z.string('must be the API key of the supplier').min(8)

const first = {
  SUPPLIER_URL: variable(apiUrl(), {
    description:
      'The URL of the supplier’s API, version included. If it does not answer, the store serves an earlier catalog and refuses purchases; without an earlier catalog it has nothing to sell.',
    required: 'the URL of the supplier’s API, such as https://api.zendit.io/v1',
    example: 'https://api.zendit.io/v1',
  }),
  SUPPLIER_KEY: variable(apiKey(), {
    description:
      'The API key of the supplier, 8 characters or more. A test key (`sand_…`) buys goods that do not exist: startup fails with one if `NETWORK` takes real money, and if the supplier refuses the key.',
    required: 'the API key of the supplier',
    isSecret: true,
  }),
}

function shapeOf(name: SupplierName) {
  const prefix = suppliers[name].variables
  const unset = `not bought from ${name}`
  return {
    URL: variable(apiUrl().optional(), {
      needs: [`${prefix}_KEY`],
      description: `The URL of the API of ${name}, version included. Set it together with \`${prefix}_KEY\`. While it does not answer, its offers are not sold; those of other suppliers are.`,
      unset,
    }),
    KEY: variable(apiKey().optional(), {
      needs: [`${prefix}_URL`],
      description: `The API key of ${name}, 8 characters or more. Startup fails if it is refused.`,
      unset,
      isSecret: true,
    }),
    WEBHOOK_HEADER: variable(
      matching(/^[A-Za-z0-9-]+$/, 'must be the name of a header').optional(),
      {
        needs: [`${prefix}_WEBHOOK_SECRET`],
        description: `The name of the header that the supplier sends with its webhooks to \`{PUBLIC_URL}/webhooks/supplier\`. Set it together with \`${prefix}_WEBHOOK_SECRET\`.`,
        unset: 'none: the store polls',
      },
    ),
    WEBHOOK_SECRET: variable(atLeast16.optional(), {
      needs: [`${prefix}_WEBHOOK_HEADER`],
      description:
        'The value of that header, 16 characters or more. If the supplier sends another value, its webhooks are answered with 401, and orders advance by polling.',
      unset: 'none',
      isSecret: true,
    }),
  } as const
}

export const supplierShape = { ...perSupplier(shapeOf), ...first }
