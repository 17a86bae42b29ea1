package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/caarlos0/env/v11"
)

// settingErrors says which settings cannot be read and what to write there.
func settingErrors(err error) error {
	all, ok := errors.AsType[env.AggregateError](err)
	if !ok {
		return fmt.Errorf("settings: %w", err)
	}
	var out []error
	for _, e := range all.Errors {
		out = append(out, settingError(e))
	}
	return errors.Join(out...)
}

func settingError(err error) error {
	bad, ok := errors.AsType[env.ParseError](err)
	if !ok {
		return fmt.Errorf("settings: %w", err)
	}
	field, ok := reflect.TypeFor[Config]().FieldByName(bad.Name)
	if !ok {
		return fmt.Errorf("settings: %w", err)
	}
	name, example := field.Tag.Get("env"), field.Tag.Get("envDefault")
	return fmt.Errorf("%s %q is %s: write one such as %s", name, os.Getenv(name), settingKind(field.Type), example)
}

// settingKind says what a value is not, by the type of its setting.
func settingKind(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "no length of time"
	case t.Kind() == reflect.Slice:
		return "no list of lengths of time"
	case t.Kind() == reflect.Bool:
		return "neither true nor false"
	}
	return "no whole number"
}
