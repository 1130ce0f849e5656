import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// Two neighbouring versions of the store work on the same tables (docs/operators/scaling.md, "Upgrading"), and a
// migration is applied while both sell.

/** Those before it make the tables of the first version. */
const firstHeld = '010'
const folder = new URL('../src/adapters/storage/migrations/', import.meta.url)
const names = readdirSync(folder).sort()

/** A running version may still use what this takes away, or write what this refuses. */
const takesAway = {
  'drops something': /\bdrop\s+(?!index|not\s+null|default)\w+/,
  'renames something': /\brename\b/,
  'requires a column': /\bset\s+not\s+null\b|\badd\s+column\b(?!.*\bdefault\b).*\bnot\s+null\b/,
  'changes a type': /\balter\s+column\s+\w+\s+(set\s+data\s+)?type\b/,
  'adds a constraint': /\badd\s+(constraint|check|foreign|unique|primary|exclude)\b/,
  'makes an index unique': /\bcreate\s+unique\s+index\b/,
}
/** Nobody else gets at the table until every row of it was read or written. */
const locksLong = {
  'checks old rows at once':
    /\badd\s+(constraint|check|foreign|unique|primary|exclude)\b(?!.*\bnot\s+valid\b)/,
  'builds an index that others wait for':
    /\b(create|drop)\s+(unique\s+)?index\b(?!\s+concurrently)/,
  'changes old rows': /^(update|delete|truncate|lock|cluster|vacuum)\b/,
  'writes the table anew': /\balter\s+column\s+\w+\s+(set\s+data\s+)?type\b|\bgenerated\b/,
}

type Rules = Readonly<Record<string, RegExp>>

function faultsOf(name: string, sql: string, others: readonly string[] = names): readonly string[] {
  const firstStep = /^-- second step of (\S+)$/m.exec(sql)?.[1]
  const isAlone = /^-- outside a transaction$/m.test(sql)
  const statements = statementsOf(sql)
  const made = statements.flatMap((one) => /^create table (\w+)/.exec(one)?.[1] ?? [])
  const onOld = statements.filter((one) => !made.some((table) => isAbout(table, one)))
  const broken = (rules: Rules) =>
    Object.entries(rules).flatMap(([fault, pattern]) =>
      onOld.some((one) => pattern.test(one)) ? [fault] : [],
    )
  const isStep = firstStep !== undefined && others.includes(firstStep) && firstStep < name
  return [
    ...(firstStep === undefined ? broken(takesAway) : []),
    ...(firstStep === undefined || isStep ? [] : ['names no first step']),
    ...broken(locksLong),
    ...(isAlone === onOld.some((one) => /\bindex concurrently\b/.test(one))
      ? []
      : ['is alone in vain, or not alone']),
    ...(isAlone && !statements.every(isRepeatable) ? ['cannot be repeated'] : []),
  ]
}

/** Without comments and the bodies of functions, which are not run here. */
function statementsOf(sql: string): readonly string[] {
  return sql
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, '$$body$$')
    .toLowerCase()
    .split(';')
    .map((one) => one.replaceAll(/\s+/g, ' ').trim())
    .filter((one) => one !== '')
}

function isAbout(table: string, statement: string): boolean {
  return new RegExp(`^create table ${table}\\b|^alter table ${table}\\b|\\bon ${table}\\b`).test(
    statement,
  )
}

/** An index that could not be built stays as a broken one, so it is dropped before it is built. */
function isRepeatable(statement: string, at: number, all: readonly string[]): boolean {
  const built = /^create (?:unique )?index concurrently (\w+)/.exec(statement)?.[1]
  if (built === undefined) return /^drop index concurrently if exists \w+$/.test(statement)
  return all[at - 1] === `drop index concurrently if exists ${built}`
}

test.each(names.filter((name) => name >= firstHeld))(
  '%s lets two neighbouring versions sell while it is applied',
  (name) => {
    expect(faultsOf(name, readFileSync(new URL(name, folder), 'utf8'))).toEqual([])
  },
)

const allowed = [
  'create table news (id text primary key); create unique index of_news on news (id)',
  'alter table orders add column news text',
  'alter table orders add column news text not null default 3',
  'alter table orders alter column news drop not null',
  '-- second step of 009-buyer-webhooks.sql\nalter table orders drop column news',
  '-- second step of 009-buyer-webhooks.sql\nalter table orders add constraint c check (a > b) not valid',
  'alter table orders validate constraint c',
  '-- outside a transaction\ndrop index concurrently if exists i;\ncreate index concurrently i on orders (news);',
  'create function f() returns trigger as $$ begin update orders set a = 1; drop table b; end $$',
]
test.each(allowed)('a migration may say: %s', (sql) => {
  expect(faultsOf('999-newer.sql', sql)).toEqual([])
})

const refused: readonly (readonly [string, string])[] = [
  ['alter table orders drop column news', 'drops something'],
  ['drop table orders', 'drops something'],
  ['drop trigger keep_orders on orders', 'drops something'],
  ['alter table orders\n  rename column a to b', 'renames something'],
  ['alter table orders alter column news set not null', 'requires a column'],
  ['alter table orders add column news text not null', 'requires a column'],
  ['alter table orders alter column news type bigint', 'changes a type'],
  ['alter table orders add constraint c check (a > b) not valid', 'adds a constraint'],
  [
    '-- second step of 009-buyer-webhooks.sql\nalter table orders add unique (a)',
    'checks old rows at once',
  ],
  ['-- second step of 999-newer.sql\nalter table orders drop column a', 'names no first step'],
  ['-- second step of 000-nothing.sql\nalter table orders drop column a', 'names no first step'],
  ['create index i on orders (a)', 'builds an index that others wait for'],
  ['create unique index concurrently if not exists i on orders (a)', 'makes an index unique'],
  ['create index concurrently i on orders (a)', 'is alone in vain, or not alone'],
  [
    '-- outside a transaction\nalter table orders add column a text',
    'is alone in vain, or not alone',
  ],
  ['-- outside a transaction\ncreate index concurrently i on orders (a)', 'cannot be repeated'],
  ['update orders set a = 1', 'changes old rows'],
  ['alter table orders add column b int generated always as (a) stored', 'writes the table anew'],
]
test.each(refused)('a migration may not say: %s', (sql, fault) => {
  expect(faultsOf('999-newer.sql', sql)).toContain(fault)
})
