import { textsIn } from '../texts/texts.ts'
import type { Frame } from './layout.ts'

/** The frame of pages in tests without a store. */
export const frame: Frame = {
  site: {
    name: 'Shop',
    description: 'Goods.',
    url: 'https://kiosk.example',
    logo: '/logo.svg',
    contact: 'ops@kiosk.example',
    acceptsCrypto: [],
  },
  styleUrl: '/style.css',
  scriptUrl: (name) => `/${name}`,
  isSandbox: false,
  t: textsIn('en'),
}
