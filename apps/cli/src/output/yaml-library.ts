/** The library for YAML, to be loaded on demand. The bundler gives names only to what an ES module exports, and the library is none. */
export { parse, stringify } from 'yaml';
