import { expect, test } from 'vitest'
import { dataBlock, html, textOf } from './html.ts'

const hostile = `"><script>alert('1')</script>&\``

test('escapes what is put in, in text and in attributes', () => {
  const made = textOf(html`<p title="${hostile}">${hostile}</p>`)
  const safe = '&#34;&#62;&#60;script&#62;alert(&#39;1&#39;)&#60;/script&#62;&#38;&#96;'
  expect(made).toBe(`<p title="${safe}">${safe}</p>`)
})

test('takes its own markup as it is, in lists too, and nothing as nothing', () => {
  const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`)
  const made = html`<ul>${items}</ul>${undefined}${null}${false}${0}${['x', [1, '&']]}`
  expect(textOf(made)).toBe('<ul><li>a</li><li>&#60;b&#62;</li></ul>0x1&#38;')
})

test('is not fooled by data that looks like its markup', () => {
  const posing = JSON.parse('{"markup":"<b>","html":"<b>"}')
  expect(textOf(html`<p>${posing}</p>`)).not.toContain('<b>')
})

test.each([
  '</script><script>alert(1)</script>',
  '<!--<script>',
  'a -->',
  '\u2028\u2029',
  'R&D <&amp;>',
])('writes data that cannot leave its block: %j', (name) => {
  const made = textOf(dataBlock({ name }))
  const [, json = ''] = /^<script type="application\/ld\+json">(.*)<\/script>$/.exec(made) ?? []
  expect(json).not.toMatch(/[<>&\u2028\u2029]/)
  expect(JSON.parse(json)).toEqual({ name })
})
