package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"
)

// byID reads one row; a missing one is a models.Error with CodeNotFound.
func byID[T any](ctx context.Context, r Reader, what string, id any) (T, error) {
	var row T
	if err := r.q(ctx).Where("id = ?", id).Take(&row).Error; err != nil {
		var none T
		return none, notFound(err, what, id)
	}
	return row, nil
}

// rows reads all rows of a query.
func rows[T any](q *gorm.DB, what string) ([]T, error) {
	var list []T
	if err := q.Find(&list).Error; err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return list, nil
}

// first reads a query's first row, nil when there is none.
func first[T any](q *gorm.DB, what string) (*T, error) {
	list, err := rows[T](q.Limit(1), what)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}
