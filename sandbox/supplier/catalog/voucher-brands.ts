import { places } from './regions.ts'

/** A gift card brand: where it is sold and what it pays for. */
export interface VoucherBrand {
  readonly brand: string
  readonly brandName: string
  readonly subTypes: readonly [string, ...string[]]
  readonly countries: readonly string[]
  readonly paysFor: string
}

const groups: Readonly<Record<string, string>> = {
  '@EU': 'DE FR ES IT NL BE AT IE PT FI',
  '@EAST': 'PL CZ HU RO SK BG HR LT',
  '@NORD': 'SE NO DK FI',
  '@GCC': 'AE SA QA KW BH OM',
  '@LATAM': 'MX BR CO CL AR PE',
  '@SEA': 'SG MY TH PH ID VN',
  '@ASIA': 'JP KR HK TW IN',
  '@MAIN': 'US CA GB DE FR ES IT NL AU MX BR',
}

/** One brand for each line: name | sub-types | countries, main one first | what it pays for. */
const table = `
Steam | Gaming & Entertainment | US @MAIN @EU @EAST @NORD @GCC @LATAM @SEA @ASIA TR ZA NZ CH | games, add-ons and items on the Steam store
PlayStation Store | Gaming & Entertainment | US @MAIN @EU @EAST @NORD @GCC @LATAM JP HK ZA NZ CH TR | games, add-ons and PlayStation Plus
Xbox | Gaming & Entertainment | US @MAIN @EU @EAST @NORD @GCC @LATAM JP ZA NZ CH TR | games, films and Game Pass on Xbox and Windows
Nintendo eShop | Gaming & Entertainment | US @MAIN @EU JP ZA CH | games and add-ons for Nintendo Switch
Roblox | Gaming & Entertainment | US @MAIN @EU @LATAM @SEA @GCC | Robux and Premium on Roblox
Fortnite V-Bucks | Gaming & Entertainment | US CA GB DE FR ES BR | V-Bucks for outfits and battle passes
Minecraft Minecoins | Gaming & Entertainment | US GB DE FR AU | skins, worlds and add-ons in Minecraft
Riot Games | Gaming & Entertainment | US GB DE FR ES TR BR MX SG | RP and points in League of Legends and VALORANT
Blizzard Battle.net | Gaming & Entertainment | US GB DE FR ES AU BR MX | games and balance on Battle.net
EA Play | Gaming & Entertainment | US GB DE FR ES | a library of Electronic Arts games
Razer Gold | Gaming & Entertainment | US MY SG PH ID TH BR MX TR | credits for thousands of games
PUBG Mobile UC | Gaming & Entertainment | US IN PK TR SA MY ID | Unknown Cash in PUBG Mobile
Free Fire Diamonds | Gaming & Entertainment | BR MX IN ID TH PH | diamonds in Garena Free Fire
Garena Shells | Gaming & Entertainment | SG MY PH TH ID TW | credits for Garena games
Twitch | Gaming & Entertainment;Digital Apps | US GB DE FR ES IT CA MX | Bits and subscriptions to streamers
Meta Quest | Gaming & Entertainment;Electronics | US GB DE FR CA AU | virtual reality games and apps
GameStop | Gaming & Entertainment;Electronics | US CA DE IE IT | games, consoles and collectibles
Fandango | Gaming & Entertainment | US | cinema tickets
AMC Theatres | Gaming & Entertainment | US | cinema tickets and snacks
Cinemark | Gaming & Entertainment | US BR MX CO | cinema tickets and snacks
Cineplex | Gaming & Entertainment | CA | cinema tickets and snacks
ODEON | Gaming & Entertainment | GB IE | cinema tickets
Ticketmaster | Gaming & Entertainment;Travel & Experience | US CA GB AU MX | tickets for concerts, sports and theatre
StubHub | Gaming & Entertainment;Travel & Experience | US CA GB | event tickets
Netflix | Digital Apps;Gaming & Entertainment | US @MAIN @EU @EAST @NORD @GCC @LATAM @SEA @ASIA TR ZA | streaming of series and films
Spotify | Digital Apps;Gaming & Entertainment | US @MAIN @EU @EAST @NORD @GCC @LATAM @SEA IN TR | music and podcasts without advertising
Disney+ | Digital Apps;Gaming & Entertainment | US GB CA AU DE FR | streaming of films and series
Hulu | Digital Apps;Gaming & Entertainment | US | streaming of series, films and live television
Paramount+ | Digital Apps;Gaming & Entertainment | US GB CA AU | streaming of films, series and sport
Crunchyroll | Digital Apps;Gaming & Entertainment | US GB CA AU BR MX | streaming of anime
Apple | Digital Apps;Electronics | US @MAIN @EU @EAST @NORD @GCC JP SG CH NZ TR | apps, music, iCloud and Apple devices
Google Play | Digital Apps;Gaming & Entertainment | US @MAIN @EU @EAST @GCC JP KR IN ID SG TR ZA | apps, games, films and books for Android
Microsoft | Digital Apps;Electronics | US GB CA DE FR AU | software, apps and devices of the Microsoft store
Skype | Digital Apps | US GB DE FR CA AU IN | calls to phones anywhere
NordVPN | Digital Apps | US GB DE FR CA AU | a private network for every device
McAfee | Digital Apps | US GB DE FR | protection from viruses
Norton | Digital Apps | US GB DE FR AU | protection from viruses and identity theft
Audible | Digital Apps | US GB DE | audio books
Kobo | Digital Apps | CA US GB | electronic books
Deezer | Digital Apps | FR DE GB BR | music streaming
Uber | Travel & Experience;Digital Apps | US CA GB FR AU MX BR IN AE ZA PL | rides with Uber
Lyft | Travel & Experience | US CA | rides with Lyft
Grab | Travel & Experience;Digital Apps | SG MY PH TH ID VN | rides, food and parcels
Bolt | Travel & Experience | EE PL PT RO ZA KE NG | rides with Bolt
Careem | Travel & Experience | AE SA JO PK EG | rides in the Middle East
Airbnb | Travel & Experience | US CA GB DE FR ES IT AU | homes and experiences
Hotels.com | Travel & Experience | US CA GB DE FR ES IT MX BR | hotel nights all over the world
Booking.com | Travel & Experience | US GB NL DE FR | stays, cars and attractions
Expedia | Travel & Experience | US CA GB AU | flights, hotels and cars
Delta Air Lines | Travel & Experience | US | flights with Delta
Southwest Airlines | Travel & Experience | US | flights with Southwest
American Airlines | Travel & Experience | US | flights with American
Emirates | Travel & Experience | AE GB SA | flights with Emirates
Ryanair | Travel & Experience | IE GB ES IT DE PL | low fare flights in Europe
FlixBus | Travel & Experience | DE FR IT ES PL US | long distance coaches
Marriott | Travel & Experience | US CA GB | hotel nights, meals and spas
Hilton | Travel & Experience | US GB | hotel nights and meals
Accor Hotels | Travel & Experience | FR GB DE AE AU | hotel nights and meals
Carnival Cruise Line | Travel & Experience | US | cruises
GetYourGuide | Travel & Experience | DE US GB FR IT | tours and tickets at the destination
Smartbox | Travel & Experience | FR IT ES BE IE | experience boxes
Virgin Experience Days | Travel & Experience | GB | days out and experiences
Starbucks | Restaurant;Food & Beverage | US CA GB DE FR MX BR JP SG AE | coffee, drinks and snacks
Dunkin' | Restaurant;Food & Beverage | US DE | coffee and doughnuts
Tim Hortons | Restaurant;Food & Beverage | CA US AE | coffee and breakfast
Costa Coffee | Restaurant;Food & Beverage | GB IE AE PL | coffee and cakes
McDonald's | Restaurant | US GB BR MX AE | meals at McDonald's
Burger King | Restaurant | US DE ES MX BR | burgers and meals
KFC | Restaurant | US GB ZA AE MY | chicken meals
Subway | Restaurant | US CA AU GB | sandwiches and salads
Chipotle | Restaurant | US CA | burritos and bowls
Domino's | Restaurant | US GB AU IN NL MX | pizza delivered
Pizza Hut | Restaurant | US GB AE IN MY | pizza and pasta
Taco Bell | Restaurant | US ES IN | tacos and burritos
Wendy's | Restaurant | US CA | burgers and fries
Olive Garden | Restaurant | US | Italian meals
The Cheesecake Factory | Restaurant | US AE KW | meals and cheesecake
Outback Steakhouse | Restaurant | US BR KR | steaks
Texas Roadhouse | Restaurant | US | steaks and ribs
Nando's | Restaurant | GB ZA AU AE | flame grilled chicken
Wagamama | Restaurant | GB | Japanese inspired meals
DoorDash | Restaurant;Food & Beverage | US CA AU NZ | food delivered from restaurants
Uber Eats | Restaurant;Food & Beverage | US CA GB FR AU MX JP | food delivered from restaurants
Deliveroo | Restaurant;Food & Beverage | GB FR IT IE AE SG | food delivered from restaurants
Just Eat | Restaurant;Food & Beverage | GB IE ES IT | food delivered from restaurants
Lieferando | Restaurant;Food & Beverage | DE AT | food delivered from restaurants
Rappi | Restaurant;Supermarket | CO MX BR PE CL AR | food and groceries delivered
iFood | Restaurant;Food & Beverage | BR | food delivered from restaurants
Zomato | Restaurant;Food & Beverage | IN AE | food delivered from restaurants
Swiggy | Restaurant;Food & Beverage | IN | food and groceries delivered
Godiva | Food & Beverage | US BE JP AE | chocolate
Baskin-Robbins | Food & Beverage | US AE JP MY | ice cream
1-800-Baskets | Food & Beverage | US | gift baskets
Hotel Chocolat | Food & Beverage | GB | chocolate
Majestic Wine | Food & Beverage | GB | wine
Nespresso | Food & Beverage;Home & Garden | FR DE ES IT CH | coffee capsules and machines
Amazon | Online Shopping;General Merchandise;Shopping | US CA GB DE FR ES IT NL SE PL AU MX BR JP IN SG AE SA EG TR | millions of items on Amazon
eBay | Online Shopping;General Merchandise | US GB DE AU | new and used items on eBay
Etsy | Online Shopping;General Merchandise | US GB CA | hand-made and vintage items
AliExpress | Online Shopping;General Merchandise | US ES FR PL BR | low priced items from China
Noon | Online Shopping;General Merchandise | AE SA EG | items of every kind in the Gulf
Jumia | Online Shopping;General Merchandise | NG KE EG MA GH CI | items of every kind in Africa
Lazada | Online Shopping;General Merchandise | SG MY PH TH ID VN | items of every kind in Southeast Asia
Shopee | Online Shopping;General Merchandise | SG MY PH TH ID VN BR TW | items of every kind
Mercado Libre | Online Shopping;General Merchandise | MX AR CO CL UY BR | items of every kind in Latin America
Allegro | Online Shopping;General Merchandise | PL CZ | items of every kind in Poland
bol.com | Online Shopping;General Merchandise | NL BE | items of every kind
Zalando | Clothing & Accessories;Online Shopping | DE FR ES IT NL BE AT PL SE DK FI CH | fashion and shoes
ASOS | Clothing & Accessories;Online Shopping | GB DE FR ES US | fashion and accessories
SHEIN | Clothing & Accessories;Online Shopping | US GB FR ES MX BR AE | fashion at low prices
H&M | Clothing & Accessories | SE US GB DE FR ES PL AE | fashion for everyone
Zara | Clothing & Accessories | ES US GB FR IT MX AE | fashion
Primark | Clothing & Accessories | GB IE ES DE | fashion at low prices
Nike | Clothing & Accessories;Sports & Outdoors | US GB DE FR ES IT NL AU CA JP | shoes and sportswear
adidas | Clothing & Accessories;Sports & Outdoors | DE US GB FR ES IT NL AE | shoes and sportswear
Foot Locker | Clothing & Accessories;Sports & Outdoors | US CA DE FR IT NL | trainers
Gap | Clothing & Accessories | US CA AE | clothes for the family
Old Navy | Clothing & Accessories | US CA | clothes for the family
Macy's | Shopping;Clothing & Accessories | US | a department store
Nordstrom | Shopping;Clothing & Accessories | US | a department store
Bloomingdale's | Shopping;Clothing & Accessories | US AE | a department store
John Lewis | Shopping;Home & Garden | GB | a department store
Marks & Spencer | Shopping;Food & Beverage | GB IE AE | clothes, food and homeware
Galeries Lafayette | Shopping;Clothing & Accessories | FR | a department store
El Corte Ingles | Shopping;General Merchandise | ES PT | a department store
Falabella | Shopping;General Merchandise | CL PE CO | a department store
Liverpool | Shopping;General Merchandise | MX | a department store
Myer | Shopping;General Merchandise | AU | a department store
Flipkart | Shopping;Online Shopping | IN | items of every kind in India
Myntra | Clothing & Accessories | IN | fashion in India
Westfield | Shopping | GB AU US | hundreds of shops in one centre
Visa Prepaid | EGIFT;General Merchandise | US CA GB DE FR AU | anything where Visa is taken
Mastercard Prepaid | EGIFT;General Merchandise | US CA GB DE FR | anything where Mastercard is taken
American Express Gift | EGIFT;General Merchandise | US CA | anything where American Express is taken
One4all | EGIFT;General Merchandise | GB IE | thousands of shops with one card
Wunschgutschein | EGIFT;General Merchandise | DE AT | hundreds of shops with one voucher
GiftPay | EGIFT;General Merchandise | AU NZ | a card to exchange for many brands
Cadeaux du Monde | EGIFT | FR BE | a voucher for many shops
Target | General Merchandise;Supermarket | US | everything for home and family
Walmart | Supermarket;General Merchandise | US CA MX | groceries and everything for the home
Costco | Supermarket;General Merchandise | US CA | groceries in large packs
Kroger | Supermarket | US | groceries
Whole Foods Market | Supermarket;Food & Beverage | US | organic groceries
Instacart | Supermarket;Food & Beverage | US CA | groceries delivered
Tesco | Supermarket | GB IE | groceries
Sainsbury's | Supermarket | GB | groceries
ASDA | Supermarket | GB | groceries
Carrefour | Supermarket | FR ES IT BE BR AE AR | groceries
REWE | Supermarket | DE | groceries
Lidl | Supermarket | DE GB IE ES | groceries
Albert Heijn | Supermarket | NL BE | groceries
Mercadona Prepago | Supermarket | ES | groceries
Esselunga | Supermarket | IT | groceries
Biedronka | Supermarket | PL | groceries
Woolworths | Supermarket | AU ZA | groceries
Coles | Supermarket | AU | groceries
Pick n Pay | Supermarket | ZA | groceries
Shoprite | Supermarket | ZA NG GH ZM | groceries
BigBasket | Supermarket | IN | groceries delivered
Lulu Hypermarket | Supermarket | AE SA QA OM KW BH | groceries and household goods
Soriana | Supermarket | MX | groceries
Best Buy | Electronics | US CA | electronics and appliances
MediaMarkt | Electronics | DE ES NL BE AT PL HU TR | electronics and appliances
Currys | Electronics | GB | electronics and appliances
FNAC | Electronics;Gaming & Entertainment | FR ES BE PT CH | electronics, books and music
JB Hi-Fi | Electronics | AU NZ | electronics and games
Newegg | Electronics | US CA | computer parts
Samsung | Electronics | KR US GB BR AE | phones, televisions and appliances
Croma | Electronics | IN | electronics
Jarir Bookstore | Electronics;General Merchandise | SA KW QA | electronics and books
Sephora | Health & Beauty | US CA FR ES IT AE | make-up and skin care
Ulta Beauty | Health & Beauty | US | make-up and hair care
Douglas | Health & Beauty | DE AT NL FR IT PL | perfume and cosmetics
The Body Shop | Health & Beauty | GB CA AU IN | natural cosmetics
Boots | Health & Beauty | GB IE | pharmacy and beauty
Rituals | Health & Beauty | NL DE FR BE | bath and body care
CVS Pharmacy | Health & Beauty | US | pharmacy and daily needs
Walgreens | Health & Beauty | US | pharmacy and daily needs
Nykaa | Health & Beauty | IN | make-up and skin care
Decathlon | Sports & Outdoors | FR DE ES IT BE PL GB IN | sports equipment
DICK'S Sporting Goods | Sports & Outdoors | US | sports equipment
REI | Sports & Outdoors | US | outdoor equipment
Bass Pro Shops | Sports & Outdoors | US CA | fishing and hunting equipment
JD Sports | Sports & Outdoors;Clothing & Accessories | GB ES FR | trainers and sportswear
Intersport | Sports & Outdoors | DE FR AT CH | sports equipment
Peloton | Sports & Outdoors;Health & Beauty | US GB DE | fitness classes and equipment
IKEA | Home & Garden | SE US GB DE FR ES IT NL PL AE | furniture and homeware
The Home Depot | Home & Garden | US CA MX | tools, building and garden
Lowe's | Home & Garden | US | tools, building and garden
Wayfair | Home & Garden | US CA GB DE | furniture online
B&Q | Home & Garden | GB | tools and garden
Leroy Merlin | Home & Garden | FR ES IT PL BR | tools and garden
OBI | Home & Garden | DE AT PL | tools and garden
Crate & Barrel | Home & Garden | US CA AE | furniture and kitchenware
Bunnings | Home & Garden | AU NZ | tools and garden
Tinder | Dating;Digital Apps | US GB DE FR ES BR IN | Tinder Plus, Gold and Platinum
Bumble | Dating;Digital Apps | US GB DE CA AU | Bumble Premium
eHarmony | Dating | US GB AU CA | a dating subscription
Badoo | Dating;Digital Apps | GB ES BR FR | Badoo Premium
Parship | Dating | DE AT NL | a dating subscription
Eskom Prepaid Electricity | Utilities | ZA | prepaid electricity
Ikeja Electric | Utilities | NG | prepaid electricity
KPLC Prepaid | Utilities | KE | prepaid electricity
ECG PowerApp | Utilities | GH | prepaid electricity
CFE Luz | Utilities | MX | electricity bills
PLN Token Listrik | Utilities | ID | prepaid electricity
Meralco Kuryente Load | Utilities | PH | prepaid electricity
DSTV | Utilities;Gaming & Entertainment | ZA NG KE GH | satellite television
Paysafecard | Utilities;EGIFT | DE AT FR ES IT PL GB CH | paying online with a code
Neosurf | Utilities;EGIFT | FR BE ES AU CA | paying online with a code
Shell | Fuel;Auto & Moto | US GB DE NL SG MY | fuel and car wash
BP | Fuel;Auto & Moto | GB US AU DE | fuel and car wash
ExxonMobil | Fuel;Auto & Moto | US | fuel
TotalEnergies | Fuel;Auto & Moto | FR BE DE MA | fuel and car wash
Repsol | Fuel;Auto & Moto | ES PT PE | fuel
Petro-Canada | Fuel;Auto & Moto | CA | fuel
AutoZone | Auto & Moto | US MX | car parts
Halfords | Auto & Moto | GB IE | car parts and bicycles
Jiffy Lube | Auto & Moto | US | oil changes
Norauto | Auto & Moto | FR ES IT | car parts and service
`

/** The upper-case id of a brand: letters and digits, with words joined by hyphens. */
export function brandId(name: string): string {
  return name
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f'.]/g, '')
    .replaceAll('&', 'N')
    .replaceAll('+', '-PLUS')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .toUpperCase()
}

function parsed(line: string): VoucherBrand {
  const [brandName = '', types = '', where = '', paysFor = ''] = line.split(' | ')
  const [first = '', ...others] = types.split(';')
  const codes = where.split(' ').flatMap((token) => (groups[token] ?? token).split(' '))
  const countries = [...new Set(codes)]
  const unknown = countries.find((code) => !places.has(code))
  if (unknown) throw new Error(`${brandName} sells in ${unknown}, which the regions lack.`)
  return { brand: brandId(brandName), brandName, subTypes: [first, ...others], countries, paysFor }
}

export const voucherBrands: readonly VoucherBrand[] = table.trim().split('\n').map(parsed)
