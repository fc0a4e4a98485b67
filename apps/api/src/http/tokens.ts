/** Injection tokens for values that are not classes. */
export const CONFIG = Symbol('config');
export const SHARED_PORTS = Symbol('shared ports');
export const LOGGER = Symbol('logger');
