import { describe, expect, test } from 'vitest'
import { html, textOf } from '../frame/html.ts'
import { messagesOf, textsIn } from './texts.ts'

const messages = messagesOf('en')

describe('a message', () => {
  const t = textsIn('en', {
    ...messages,
    'frame.copyOf': '{what}',
    'home.kindAll': '{count, plural, one {# offer} other {# offers}}',
    'terms.elsewhere': '<link>{url}</link> & more',
  })
  const hostile = '<script>"&\''

  test('counts as its language does', () => {
    expect(t('home.kindAll', { count: 1 })).toBe('1 offer')
    expect(t('home.kindAll', { count: 12_500 })).toBe('12,500 offers')
    const polish = '{count, plural, one {# oferta} few {# oferty} many {# ofert} other {# oferty}}'
    const pl = textsIn('pl', { ...messages, 'home.kindAll': polish })
    expect([1, 3, 5, 12_500].map((count) => pl('home.kindAll', { count }))).toEqual([
      '1 oferta',
      '3 oferty',
      '5 ofert',
      '12\u00a0500 ofert',
    ])
  })

  test('without tags is text, which is escaped where it is put into a page', () => {
    const text = t('frame.copyOf', { what: hostile })
    expect(text).toBe(hostile)
    expect(textOf(html`<p>${text}</p>`)).toBe('<p>&#60;script&#62;&#34;&#38;&#39;</p>')
  })

  test('with tags is markup, in which neither values nor words can make any', () => {
    const link = (content: ReturnType<typeof html>) => html`<a href="/x">${content}</a>`
    expect(textOf(html`${t('terms.elsewhere', { url: hostile, link })}`)).toBe(
      '<a href="/x">&#60;script&#62;&#34;&#38;&#39;</a> &#38; more',
    )
    expect(textOf(html`${t('terms.elsewhere', { url: html`<b>1</b>`, link })}`)).toBe(
      '<a href="/x"><b>1</b></a> &#38; more',
    )
  })

  test('is left open for a script, which puts its values in', () => {
    expect(textsIn('en').template('wallet.pay')).toBe('Pay {amount} USDC')
  })
})
