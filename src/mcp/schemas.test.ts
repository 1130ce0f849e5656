import { expect, test } from 'vitest'
import { argumentSchema, problemInArguments } from './arguments.ts'

test('arguments are published without what the store checks itself, which they say in words', () => {
  const limit = { type: 'integer', minimum: 1, maximum: 50, default: 20, description: 'How many' }
  const code = { type: 'string', pattern: '^[A-Z]{2}$', minLength: 2, description: 'A country' }
  const ids = { type: 'array', items: { type: 'string' }, maxItems: 10, description: 'Several' }
  const sort = { type: 'string', enum: ['match', 'price'], description: 'In which order' }
  const goods = { type: 'boolean', default: false, description: 'With the goods' }
  expect(argumentSchema({ limit, code, ids, sort, goods }, ['code'])).toEqual({
    type: 'object',
    properties: {
      limit: { type: 'integer', description: 'How many (1 to 50; 20 if left out)' },
      code: { type: 'string', description: 'A country' },
      ids: { type: 'array', items: { type: 'string' }, description: 'Several (at most 10)' },
      sort,
      goods: { type: 'boolean', description: 'With the goods' },
    },
    required: ['code'],
  })
  expect(argumentSchema({}, [])).not.toHaveProperty('required')
})

test('a problem names the arguments of tools, and leaves the words of a caller as they are', () => {
  expect(
    problemInArguments({
      detail: 'maxUsdc must be a decimal.',
      errors: [{ field: 'webhookUrl' }, { field: 'maxUsdcents' }, { field: 'mymaxUsdc' }],
    }),
  ).toEqual({
    detail: 'max_usdc must be a decimal.',
    errors: [{ field: 'webhook_url' }, { field: 'maxUsdcents' }, { field: 'mymaxUsdc' }],
  })
})
