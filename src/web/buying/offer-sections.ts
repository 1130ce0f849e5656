import type { Coverage } from '../../catalog/kinds/esim.ts'
import type { Offer } from '../../catalog/offer.ts'
import { type Html, html } from '../frame/html.ts'
import { fact } from '../frame/parts.ts'
import { moneyText } from '../shop/money-text.ts'
import { allowanceFacts, type Fact, kindName, placeName } from '../shop/offer-words.ts'
import { countryName } from '../texts/countries.ts'
import type { Texts } from '../texts/texts.ts'

/** A longer list of countries is collapsed. */
const countriesShown = 12

/** Everything known about an offer: a list of facts, and the texts of its supplier. */
export function aboutSection(offer: Offer, t: Texts): Html {
  return html`<section class="about" aria-labelledby="facts">
<h2 id="facts">${t('buy.facts')}</h2>
${offer.shortNotes && html`<p class="short" dir="auto">${offer.shortNotes}</p>`}
<dl class="facts">
${factsOf(offer, t).map(({ name, value }) => fact(name, value))}</dl>
${offer.kind === 'esim' && offer.coverage.length > 1 && coverageList(offer.coverage, t)}
${textBlock(t('buy.notes'), offer.notes)}
${offer.kind === 'voucher' && textBlock(t('buy.redeem'), offer.redemptionInstructions)}
${offer.kind === 'voucher' && textBlock(t('buy.description'), offer.description)}
</section>`
}

function factsOf(offer: Offer, t: Texts): Fact[] {
  const makerNames = {
    voucher: t('buy.factNames.brand'),
    topup: t('buy.factNames.operator'),
    esim: t('buy.factNames.provider'),
  }
  const facts: (Fact | undefined)[] = [
    { name: t('buy.factNames.kind'), value: kindName(offer, t) },
    { name: makerNames[offer.kind], value: offer.brandName },
    valueFact(offer, t),
    ...(offer.kind === 'voucher' ? [] : allowanceFacts(offer.allowance, t)),
    {
      name: offer.kind === 'esim' ? t('buy.factNames.worksIn') : t('buy.factNames.country'),
      value: placeName(offer, t),
    },
    listFact(t('buy.factNames.regions'), offer.regions),
    offer.kind === 'topup'
      ? undefined
      : listFact(
          offer.kind === 'esim' ? t('buy.factNames.tier') : t('buy.factNames.category'),
          offer.subTypes,
        ),
    offer.kind === 'esim'
      ? listFact(t('buy.factNames.speeds'), speedsOf(offer.coverage))
      : undefined,
    { name: t('buy.factNames.id'), value: offer.id },
  ]
  return facts.filter((fact) => fact !== undefined)
}

function valueFact(offer: Offer, t: Texts): Fact | undefined {
  if (offer.kind === 'esim') return undefined
  const value = moneyText(offer.faceValue ?? offer.price, t)
  if (offer.kind === 'topup') {
    return offer.faceValue === undefined ? undefined : { name: t('buy.factNames.credited'), value }
  }
  return {
    name: offer.price.type === 'RANGE' ? t('buy.factNames.values') : t('buy.factNames.value'),
    value,
  }
}

function listFact(name: string, values: readonly string[]): Fact | undefined {
  return values.length === 0 ? undefined : { name, value: values.join(', ') }
}

function speedsOf(coverage: readonly Coverage[]): string[] {
  return [...new Set(coverage.flatMap(({ speeds }) => speeds))].sort()
}

function coverageList(coverage: readonly Coverage[], t: Texts): Html {
  const named = coverage
    .map(({ country, speeds }) => ({ name: countryName(country, t), speeds: speeds.join(', ') }))
    .sort((one, other) => one.name.localeCompare(other.name, t.language))
  const list = html`<ul class="coverage">
${named.map(
  ({ name, speeds }) => html`<li>${name} <small>${speeds}</small></li>
`,
)}</ul>`
  const isLong = named.length > countriesShown
  return html`<h3>${t('buy.coverage')}</h3>
${
  isLong
    ? html`<details><summary>${t('buy.coverageAll', { count: named.length })}</summary>${list}</details>`
    : list
}`
}

/** A text as the supplier sent it: blank lines separate paragraphs, and line breaks are kept. */
function textBlock(title: string, text: string | undefined): Html | undefined {
  if (text === undefined) return undefined
  const paragraphs = text.split(/\n{2,}/).filter((part) => part.trim() !== '')
  return html`<h3>${title}</h3>
${paragraphs.map(
  (part) => html`<p class="said" dir="auto">${part}</p>
`,
)}`
}
