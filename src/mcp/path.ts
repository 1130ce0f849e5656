/** Where the MCP server is. */
export const mcpPath = '/mcp'
