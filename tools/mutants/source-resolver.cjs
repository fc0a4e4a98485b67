// Resolver with which Jest follows imports from one package to another's sources. Only lists of related suites need it: when tests run,
// the condition comes from jest.config.mjs.
module.exports = (request, options) =>
  options.defaultResolver(request, {
    ...options,
    conditions: [...new Set([...(options.conditions ?? []), 'holdfast-source', 'import', 'node', 'default'])],
  });
