import { TextField } from '@holdfast/ui/field.js';

/** Password of an account that is being made. The API checks the length too. */
export function NewPasswordField() {
  return (
    <TextField
      label="Password, at least 12 characters"
      name="password"
      type="password"
      autoComplete="new-password"
      minLength={12}
      required
    />
  );
}
