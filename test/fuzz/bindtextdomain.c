/*
 * Preloaded beside the address sanitizer: with that in front of it, glibc's bindtextdomain() waits for ever for its own
 * lock, and PostgreSQL calls it first of all. Messages stay as they are in the program.
 */
char	   *bindtextdomain(const char *domain, const char *directory);

char *
bindtextdomain(const char *domain, const char *directory)
{
	(void) domain;
	return (char *) directory;
}
