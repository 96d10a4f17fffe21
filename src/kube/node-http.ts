/**
 * What is used of node:http. An `import` of it asks for each of its exports, and one of them, the browser's WebSocket,
 * loads all of Node's fetch: 20 ms of CPU and 4 MiB at the start of every command, for nothing.
 */
export const { Agent, createServer, IncomingMessage, request, STATUS_CODES } =
  process.getBuiltinModule('node:http')
