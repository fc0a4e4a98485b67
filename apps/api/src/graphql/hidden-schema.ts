/** Hides the schema where introspection is off: errors must not suggest names that are close to a wrong one. */
import { type ExecutionResult, GraphQLError } from 'graphql';

/** As GraphQL.js ends its messages. */
const SUGGESTION = / Did you mean .*\?$/s;

export function withoutSuggestions(result: ExecutionResult): ExecutionResult {
  return result.errors === undefined ? result : { ...result, errors: result.errors.map(withoutSuggestion) };
}

function withoutSuggestion(error: GraphQLError): GraphQLError {
  const { message, nodes = null, path = null, extensions } = error;
  if (!SUGGESTION.test(message)) return error;
  return new GraphQLError(message.replace(SUGGESTION, ''), { nodes, path, extensions });
}
