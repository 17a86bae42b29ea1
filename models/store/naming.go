package store

import (
	"strings"

	"gorm.io/gorm/schema"
)

// naming is how fields become columns: gorm's way, with DoD as one word.
var naming = schema.NamingStrategy{NameReplacer: strings.NewReplacer("DoD", "Dod")}
