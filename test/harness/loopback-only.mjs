import { Socket } from 'node:net'

/*
 * Loaded before a program that must not connect to other machines: its first attempt ends the process with
 * a message that names the host.
 */

const own = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/
const { connect } = Socket.prototype

Socket.prototype.connect = function connectHere(...args) {
  const [first] = Array.isArray(args[0]) ? args[0] : args
  const { host = 'localhost', path } = typeof first === 'object' ? first : { host: args[1] }
  if (path === undefined && !own.test(host)) {
    process.stderr.write(`This program asked ${host}.\n`)
    process.exit(1)
  }
  return connect.apply(this, args)
}
