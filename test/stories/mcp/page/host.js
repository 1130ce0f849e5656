import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

/** Shows a document in the host side of the protocol's own package, as a host would, and gives it a result. */
export async function host(text, theme, result) {
  // The test puts these into the page.
  const { asked, callTool } = window
  const frame = document.createElement('iframe')
  frame.sandbox.add('allow-scripts')
  frame.style.cssText = 'width: 420px; height: 700px; border: 0'
  document.body.replaceChildren(frame)
  const child = frame.contentWindow
  if (child === null) throw new Error('The frame has no window')
  const bridge = new AppBridge(
    null,
    { name: 'story', version: '1.0.0' },
    { openLinks: {}, serverTools: {} },
    { hostContext: { theme } },
  )
  bridge.oncalltool = ({ name, arguments: args }) => callTool(name, args)
  bridge.onopenlink = async ({ url }) => {
    await asked('open', url)
    return {}
  }
  bridge.onmessage = async ({ content }) => {
    await asked('say', content)
    return {}
  }
  const ready = new Promise((resolve) => {
    bridge.oninitialized = () => resolve()
  })
  await bridge.connect(new PostMessageTransport(child, child))
  frame.srcdoc = text
  await ready
  await bridge.sendToolInput({ arguments: {} })
  await bridge.sendToolResult(result)
}
