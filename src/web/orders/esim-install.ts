/** How an eSIM gets into a phone, by link or by hand. */
export interface EsimInstall {
  /** The whole activation code, "LPA:1$host$id". */
  readonly lpa: string
  readonly smdpAddress?: string
  /** What Android and iOS ask for beside the address; empty where the address alone will do. */
  readonly matchingId?: string
  readonly iosUrl: string
  readonly androidUrl: string
}

/** Pages of Apple (iOS 17.4) and Google that phones open as their own installer. */
const iosInstaller = 'https://esimsetup.apple.com/esim_qrcode_provisioning'
const androidInstaller = 'https://esimsetup.android.com/esim_qrcode_provisioning'

/** Takes a whole activation code apart (SGP.22 4.1): "LPA:1$host$id" and what may follow. */
export function installOf(lpa: string): EsimInstall {
  const [, smdpAddress = '', matchingId = ''] = lpa.split('$')
  const query = `?carddata=${encodeURIComponent(lpa)}`
  return {
    lpa,
    ...(smdpAddress === '' ? {} : { smdpAddress }),
    ...(matchingId === '' ? {} : { matchingId }),
    iosUrl: `${iosInstaller}${query}`,
    androidUrl: `${androidInstaller}${query}`,
  }
}
