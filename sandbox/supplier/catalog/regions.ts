/** Zendit's regions, each with its countries and their currencies; the assignment is ours. */
const table = {
  Africa:
    'AO:AOA BF:XOF BI:BIF BJ:XOF BW:BWP CD:CDF CF:XAF CG:XAF CI:XOF CM:XAF CV:CVE DJ:DJF ER:ERN ' +
    'ET:ETB GA:XAF GH:GHS GM:GMD GN:GNF GQ:XAF GW:XOF KE:KES KM:KMF LR:LRD LS:LSL MG:MGA ML:XOF ' +
    'MU:MUR MW:MWK MZ:MZN NA:NAD NE:XOF NG:NGN RE:EUR RW:RWF SC:SCR SL:SLE SN:XOF SO:SOS SS:SSP ' +
    'ST:STN SZ:SZL TD:XAF TG:XOF TZ:TZS UG:UGX YT:EUR ZA:ZAR ZM:ZMW ZW:USD',
  Asia: 'CN:CNY HK:HKD JP:JPY KG:KGS KR:KRW KZ:KZT MN:MNT MO:MOP TJ:TJS TM:TMT TW:TWD UZ:UZS',
  Caribbean:
    'AG:XCD AI:XCD AW:AWG BB:BBD BM:BMD BQ:USD BS:BSD CU:CUP CW:XCG DM:XCD DO:DOP GD:XCD GP:EUR ' +
    'HT:HTG JM:JMD KN:XCD KY:KYD LC:XCD MQ:EUR MS:XCD PR:USD SX:XCG TC:USD TT:TTD VC:XCD VG:USD VI:USD',
  'Central America': 'BZ:BZD CR:CRC GT:GTQ HN:HNL NI:NIO PA:USD SV:USD',
  'Eastern Europe':
    'AL:ALL AM:AMD AZ:AZN BA:BAM BG:EUR BY:BYN CZ:CZK EE:EUR GE:GEL HR:EUR HU:HUF LT:EUR LV:EUR ' +
    'MD:MDL ME:EUR MK:MKD PL:PLN RO:RON RS:RSD RU:RUB SI:EUR SK:EUR UA:UAH XK:EUR',
  'Middle East and North Africa':
    'AE:AED BH:BHD DZ:DZD EG:EGP IL:ILS IQ:IQD IR:IRR JO:JOD KW:KWD LB:LBP LY:LYD MA:MAD MR:MRU ' +
    'OM:OMR PS:ILS QA:QAR SA:SAR SD:SDG SY:SYP TN:TND TR:TRY YE:YER',
  'North America': 'CA:CAD MX:MXN US:USD',
  Oceania:
    'AS:USD AU:AUD CK:NZD FJ:FJD FM:USD GU:USD KI:AUD MH:USD NC:XPF NR:AUD NZ:NZD PF:XPF PG:PGK ' +
    'PW:USD SB:SBD TO:TOP TV:AUD VU:VUV WS:WST',
  'South America':
    'AR:ARS BO:BOB BR:BRL CL:CLP CO:COP EC:USD GF:EUR GY:GYD PE:PEN PY:PYG SR:SRD UY:UYU VE:VES',
  'South Asia': 'AF:AFN BD:BDT BT:BTN IN:INR LK:LKR MV:MVR NP:NPR PK:PKR',
  'Southeast Asia': 'BN:BND ID:IDR KH:KHR LA:LAK MM:MMK MY:MYR PH:PHP SG:SGD TH:THB TL:USD VN:VND',
  'Western Europe':
    'AD:EUR AT:EUR BE:EUR CH:CHF CY:EUR DE:EUR DK:DKK ES:EUR FI:EUR FO:DKK FR:EUR GB:GBP GG:GBP ' +
    'GI:GIP GL:DKK GR:EUR IE:EUR IM:GBP IS:ISK IT:EUR JE:GBP LI:CHF LU:EUR MC:EUR MT:EUR NL:EUR ' +
    'NO:NOK PT:EUR SE:SEK SM:EUR',
} as const

export type Region = keyof typeof table | 'Global'

interface Place {
  readonly code: string
  readonly currency: string
  readonly region: Region
}

/** Every country of the catalog by its ISO 3166-1 alpha-2 code. */
export const places: ReadonlyMap<string, Place> = new Map(
  Object.entries(table).flatMap(([region, line]) =>
    line.split(' ').map((entry): [string, Place] => {
      const [code = '', currency = ''] = entry.split(':')
      return [code, { code, currency, region: region as Region }]
    }),
  ),
)

const names = new Intl.DisplayNames('en', { type: 'region' })

export function countryName(code: string): string {
  return names.of(code) ?? code
}
